import { messageOf, ToolscoutError, toToolscoutError, type Problem } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import type { JsonObject } from '../../kernel/json.js';
import { compareLines } from '../../kernel/line-diff.js';
import type { ConfigChange, ConfigChanges, PlacedProblem, PlannedChange } from '../../model/config-change.js';
import type { Viewer } from '../../model/viewer.js';
import type { ImportPlan } from '../../model/source.js';
import type { AppliedChange, ConfigChangeVerbs, ImportRequest, ShownPlan } from '../contract/config-change.js';
import type { Core } from '../core.js';
import { createPlaceholders } from '../placeholders.js';
import { previewRules } from '../reports/rules-preview.js';
import type { ReloadReport } from '../reload.js';
import { isSeen } from '../viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

const hashOf = (path: string, before: string | undefined, after: string): string =>
  sha256(JSON.stringify([path, before ?? null, after]));

function otherPlan(): ToolscoutError {
  return new ToolscoutError('INVALID_REQUEST', 'The config file has changed since this change was planned.', {
    suggestion: 'Plan the change again and look at the new diff.',
  });
}

/** The verbs that change the config file (STUDIO-8). */
export function configChangeVerbs(
  core: Core,
  reload: (viewer: Viewer) => Promise<ReloadReport>,
): VerbTable<`studio.${keyof ConfigChangeVerbs}`> {
  const { audit } = core.deps;
  // What one credential is, must stay the same over a reload that changes it.
  const seen = new Set<string>();
  const placeholders = createPlaceholders(() => {
    for (const secret of core.loaded.secrets) seen.add(secret);
    return [...seen];
  });

  const changes = async (): Promise<ConfigChanges> => {
    const opened = await core.deps.configChanges?.();
    if (opened) return opened;
    throw new ToolscoutError('CONFIGURATION_ERROR', 'This toolscout has no config file that could be changed.', {
      suggestion: 'Start it with --config FILE; toolscout init writes one.',
    });
  };

  /** A text of the file may hold credentials that are not in force: it was just changed, or it was rejected. */
  const noteSecrets = async (opened: ConfigChanges, text: string, path: string): Promise<void> => {
    for (const secret of await opened.secretsIn(text, path)) seen.add(secret);
  };

  const show = async (
    { path, before = '', after, problems, warnings, launches, secrets }: PlannedChange,
    plan: string,
  ): Promise<ShownPlan> => {
    const opened = await changes();
    await noteSecrets(opened, before, path);
    const fresh = secrets.filter((secret) => !placeholders.stands(secret));
    const hide = (text: string): string => placeholders.hide(text, fresh);
    const [old, next] = [hide(before), hide(after)];
    // Lines are those of the text that is shown.
    const placed = async (found: readonly Problem[]): Promise<PlacedProblem[]> => opened.place(found, next, path);
    const hidden = <Each extends { readonly message: string }>(each: Each): Each => ({
      ...each,
      message: core.hide(each.message),
    });
    return {
      file: path,
      before: old,
      after: next,
      diff: compareLines(old, next),
      problems: (await placed(problems)).map(hidden),
      warnings: (await placed(warnings)).map(hidden),
      commands: launches.map((launch) => ({ ...launch, target: core.hide(launch.target) })),
      plan,
    };
  };

  const planned = async (change: ConfigChange): Promise<{ readonly change: PlannedChange; readonly plan: string }> => {
    const restored =
      'text' in change
        ? { ...change, text: placeholders.restoreText(change.text) }
        : (placeholders.restore(change as unknown as JsonObject) as unknown as ConfigChange);
    const made = await (await changes()).plan(restored, core.loaded.path, core.loaded.config.servers);
    return { change: made, plan: hashOf(made.path, made.before, made.after) };
  };

  /** Applies the written config. A valid config that cannot be applied is reported, not reverted. */
  const takeOver = async (viewer: Viewer, file: string, backup?: string): Promise<AppliedChange> => {
    const written = { file, ...(backup !== undefined && { backup }) };
    try {
      return { ...written, report: await reload(viewer) };
    } catch (thrown) {
      return { ...written, problem: core.hide(messageOf(thrown)) };
    }
  };

  const recorded = async (
    { principal }: Viewer,
    detail: JsonObject,
    write: () => Promise<string | undefined>,
  ): Promise<string | undefined> => {
    const act = { kind: 'config-edit', principal, detail } as const;
    try {
      const backup = await write();
      await audit.recordNow({ ...act, outcome: 'success' });
      return backup;
    } catch (thrown) {
      const error = toToolscoutError(thrown, 'CONFIGURATION_ERROR');
      await audit.recordNow({ ...act, outcome: 'failure', code: error.code, message: error.message });
      throw error;
    }
  };

  const apply = async (viewer: Viewer, change: ConfigChange, plan?: string): Promise<AppliedChange> => {
    const made = await planned(change);
    if (plan !== undefined && plan !== made.plan) throw otherPlan();
    const { path, problems } = made.change;
    if (problems.length > 0) {
      const message = `The config would not be valid: ${problems[0]!.path}: ${core.hide(problems[0]!.message)}.`;
      throw new ToolscoutError('CONFIGURATION_ERROR', message, { problems, file: path });
    }
    const what = 'servers' in change ? { servers: Object.keys(change.servers) } : { field: Object.keys(change)[0]! };
    await recorded(viewer, { path, ...what }, async () => {
      await (await changes()).write(made.change);
      return undefined;
    });
    return takeOver(viewer, path);
  };

  const importPlan = async (request: ImportRequest): Promise<ImportPlan> => {
    const { planImport } = core.deps;
    if (planImport) return planImport(request);
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      'This toolscout was opened without access to the config files of other clients.',
      {
        suggestion: 'Run toolscout import on the machine where the clients are installed.',
      },
    );
  };

  const plannedImport = async (request: ImportRequest) => {
    const made = await importPlan(request);
    const { before, after } = await made.preview();
    return { made, before, after, plan: hashOf(made.config, before, after) };
  };

  return defineVerbs({
    async 'studio.configFile'(_viewer) {
      const { path } = core.loaded;
      const opened = await changes().catch((thrown: unknown) => toToolscoutError(thrown));
      if (opened instanceof ToolscoutError) return { exists: false, text: '', servers: {}, problem: opened.message };
      const file = await opened.read(path);
      await noteSecrets(opened, file.text ?? '', file.path);
      const text = placeholders.hide(file.text ?? '');
      const isGone = path !== undefined && file.text === undefined;
      const rejected = core.rejectedConfig;
      const { warnings } = core.loaded;
      const shown = {
        path: file.path,
        exists: file.text !== undefined,
        ...(isGone && { isGone }),
        text,
        ...(rejected && !isGone && { rejected: await opened.place(rejected, text, file.path) }),
        warnings: (rejected ? warnings : await opened.place(warnings, text, file.path)).map((each) => ({
          ...each,
          message: core.hide(each.message),
        })),
      };
      try {
        return { ...shown, servers: await opened.serversIn(text, file.path) };
      } catch (thrown) {
        // A file that is broken can be mended as a text.
        return { ...shown, servers: {}, problem: core.hide(messageOf(thrown)) };
      }
    },

    async 'studio.planConfig'(_viewer, change) {
      const made = await planned(change);
      return show(made.change, made.plan);
    },

    'studio.applyConfig': (viewer, change, plan) => apply(viewer, change, plan),

    async 'studio.setEnabled'(viewer, id, enabled) {
      core.catalog.server(id);
      const file = await (await changes()).read(core.loaded.path);
      // Without the file the plan says what is wrong.
      if (file.text === undefined) return apply(viewer, { servers: { [id]: { enabled } } });
      const written = (await (await changes()).serversIn(file.text ?? '', file.path))[id];
      if (!written) {
        const { source } = core.catalog.server(id);
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `"${id}" is not defined in ${file.path}; it comes from ${source}.`,
          {
            suggestion: 'Change it there, or add a server of its own to the config.',
          },
        );
      }
      // What was written stays as it is: no credential of it is new.
      return apply(viewer, { servers: { [id]: { ...written, enabled } }, allowSecrets: true });
    },

    async 'studio.planImport'(_viewer, request) {
      const { made, before, after, plan } = await plannedImport(request);
      const empty = { problems: [], warnings: [], launches: [], secrets: [] };
      const shown = await show({ path: made.config, ...(before !== undefined && { before }), after, ...empty }, plan);
      const { clients, additions, paste } = made;
      return { ...shown, clients, additions, ...(paste !== undefined && { paste: placeholders.hide(paste) }) };
    },

    async 'studio.applyImport'(viewer, request, plan) {
      const current = await plannedImport(request);
      if (plan !== current.plan) throw otherPlan();
      const { config, additions } = current.made;
      const backup = await recorded(
        viewer,
        { path: config, imported: additions },
        async () => (await current.made.apply()).backup,
      );
      return takeOver(viewer, config, backup);
    },

    async 'studio.previewRules'(viewer, rules, { except } = {}) {
      await core.filled();
      const tools = core.catalog.index.tools().filter((tool) => isSeen(viewer, tool));
      return previewRules(rules, core.catalog.rules, tools, except);
    },
  });
}
