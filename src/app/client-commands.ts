import { resolve } from 'node:path';
import type { Launch } from '../clients/importer.js';
import type { ClientEnvironment } from '../config/index.js';
import type { CliDeps, ImportWish, InstallWish } from '../front/cli/context.js';
import { configReader } from './open-gateway.js';
import { systemClock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { counted } from '../kernel/text.js';
import type { SourceType } from '../model/config.js';
import type { ImportPlan, StayReason } from '../model/source.js';
import { ownCommand, placeOf } from './client-environment.js';
import { homeOf, stateDirectoryOf } from './state-place.js';

/** The parts of the process that a command about other clients needs. */
interface Around {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables that move folders belong to the home of this user, not to one that is named. */
const MOVERS = /^(XDG_CONFIG_HOME|APPDATA|CODEX_HOME|CLAUDE_CONFIG_DIR|TOOLS_YAML_PATH)$/;

function surroundings({ cwd, env }: Around, wish: { readonly home?: string; readonly project?: string }) {
  const isOther = wish.home !== undefined;
  const kept = isOther ? Object.fromEntries(Object.entries(env).filter(([name]) => !MOVERS.test(name))) : env;
  const home = isOther ? resolve(cwd, wish.home!) : homeOf(env);
  return { home, env: kept, project: resolve(cwd, wish.project ?? '.') };
}

async function planImport(around: Around, wish: ImportWish): ReturnType<CliDeps['planImport']> {
  const [{ planImport: plan }, { readEnvironment }] = await Promise.all([
    import('../clients/import-plan.js'),
    import('../config/index.js'),
  ]);
  const { home, env, project } = surroundings(around, wish);
  return plan({
    // Names were checked against the list that comes from the same place.
    clients: wish.clients.length > 0 ? (wish.clients as SourceType[]) : undefined,
    place: placeOf({ home, env, project }),
    find: { file: wish.config, cwd: around.cwd, home, xdgConfigHome: readEnvironment(env).configHome },
    stateDirectory: stateDirectoryOf(around),
    now: systemClock.now,
    credentials: wish.credentials,
  });
}

/**
 * The config a client's entry names, always by its absolute path: a client starts its servers in a folder of its own
 * choosing. A config of the current folder counts only when it is approved; otherwise it is the user's own, which is
 * created if missing.
 */
async function configFor(around: Around, wish: InstallWish, notes: string[]): Promise<string> {
  if (wish.config !== undefined) return resolve(around.cwd, wish.config);
  const [{ chooseConfig, findConfig, readEnvironment, userConfigStem }, { openFile, replaceFile }] = await Promise.all([
    import('../config/index.js'),
    import('../config/edit/replace-file.js'),
  ]);
  const { home, env } = surroundings(around, wish);
  const find = { cwd: around.cwd, home, xdgConfigHome: readEnvironment(env).configHome };
  const chosen = await chooseConfig({ ...find, stateDirectory: stateDirectoryOf(around) });
  const found = await findConfig(find);
  if (found !== undefined && found !== chosen?.path && !wish.uninstall && !wish.undo) {
    notes.push(
      `${found} is not used: it is not approved. Approve it with toolscout config approve, or name it with --config.`,
    );
  }
  if (chosen) return chosen.path;
  const own = `${userConfigStem(find)}.json`;
  if (!wish.dryRun && !wish.uninstall && !wish.undo) {
    await replaceFile(await openFile(own), '{\n  "servers": {}\n}\n');
    notes.push(`Created ${own}. Add servers with toolscout import or toolscout add.`);
  }
  return own;
}

/** How a client starts or reaches this very toolscout. */
async function launchFor(around: Around, wish: InstallWish, notes: string[]): Promise<Launch> {
  const { cwd, env } = around;
  if (wish.transport === 'http') {
    const file = wish.config === undefined ? undefined : resolve(cwd, wish.config);
    const { config } = await configReader({ config: file, cwd, env })();
    return { type: 'http', url: `http://${config.http.host}:${config.http.port}/mcp` };
  }
  const { command, args } = ownCommand();
  return {
    type: 'stdio',
    command,
    args: [
      ...args,
      'serve',
      '--stdio',
      ...(wish.shared ? ['--shared'] : []),
      '--config',
      await configFor(around, wish, notes),
    ],
  };
}

/** Whether a host of a name is shown the meta-tools by the config that toolscout will use. */
async function metaToolsShown({ cwd, env }: Around, wish: InstallWish): Promise<(host: string) => boolean> {
  const { createModeChoice } = await import('../front/mcp/menu/modes.js');
  try {
    const file = wish.config === undefined ? undefined : resolve(cwd, wish.config);
    const { config } = await configReader({ config: file, cwd, env })();
    const choose = createModeChoice(config.mode, config.hostModes);
    return (host) => choose({ clientInfo: { name: host } }) !== 'passthrough';
  } catch (thrown) {
    // toolscout can be installed before its config is written; until then the default mode holds.
    if (!(thrown instanceof ToolscoutError) || thrown.code !== 'CONFIGURATION_ERROR') throw thrown;
    return () => true;
  }
}

async function installClient(around: Around, wish: InstallWish): ReturnType<CliDeps['install']> {
  const { install } = await import('../clients/install.js');
  const { home, env, project } = surroundings(around, wish);
  const notes: string[] = [];
  const client = wish.client as SourceType;
  const target = {
    client,
    place: placeOf({ home, env, project }),
    scope: wish.project === undefined ? 'user' : 'project',
  } as const;
  const launch = await launchFor(around, wish, notes);
  const report = await install({
    ...target,
    launch,
    showsMetaTools: await metaToolsShown(around, wish),
    uninstall: wish.uninstall || wish.undo,
    dryRun: wish.dryRun,
    restore: wish.undo,
    moved: wish.replace ? await moveServers(around, wish, target, notes) : undefined,
  });
  if (wish.undo && report.restored?.length === 0)
    notes.push('No servers to restore: --replace moved none out of this file, or all are back.');
  return { ...report, notes };
}

/** Says which servers stay in a client's file, why, and what to do about it. */
function stayNotes(
  staying: ImportPlan['staying'],
  { path, file, credentials }: { readonly path: string; readonly file: string; readonly credentials?: boolean },
): string[] {
  const why: Readonly<Record<StayReason, string>> = {
    credentials: credentials
      ? 'its credentials are mixed with variables or have several lines. Set them as variables by hand.'
      : 'it holds credentials. Move them too with --with-credentials.',
    'env-file': 'it reads its variables from a file. Add it with toolscout add.',
    source: `"sources" in ${file} reads it from there. Take it out of "sources", then run this again.`,
    'name-taken': `${file} has another server of that name. Rename one of the two.`,
    'config-is-code': `${file} is not edited by toolscout. Add it there by hand.`,
  };
  return staying.map(({ server, reason }) => `"${server}" stays in ${path}: ${why[reason]}`);
}

/** Adds the servers in a client's file to the config that its entry names; answers those that may leave the file. */
async function moveServers(
  around: Around,
  wish: InstallWish,
  target: { readonly client: SourceType; readonly place: ClientEnvironment; readonly scope: 'user' | 'project' },
  notes: string[],
): Promise<ReadonlySet<string>> {
  const [{ movableFile }, { planImport: plan }, { readEnvironment }] = await Promise.all([
    import('../clients/install.js'),
    import('../clients/import-plan.js'),
    import('../config/index.js'),
  ]);
  const { client, place } = target;
  const path = movableFile(target);
  const file = await configFor(around, wish, []);
  const planned = await plan({
    clients: [client],
    place: { ...place, project: undefined },
    find: { file, cwd: around.cwd, home: place.home, xdgConfigHome: readEnvironment(place.env).configHome },
    stateDirectory: stateDirectoryOf(around),
    now: systemClock.now,
    credentials: wish.credentials,
    copyOnly: true,
    only: (server) => server.file === path,
  });
  const { backup, secretsFile } = wish.dryRun ? {} : await planned.apply();
  const moved = new Set(planned.owned);
  const rows = planned.clients.flatMap(({ servers }) => servers);
  notes.push(
    `${moved.size} of ${counted(rows.length, 'server')} ${wish.dryRun ? 'would be moved' : 'moved'} to ${file}.`,
  );
  notes.push(...stayNotes(planned.staying, { path, file, credentials: wish.credentials }));
  if (secretsFile !== undefined) notes.push(`Credentials are in ${secretsFile}.`);
  if (backup !== undefined) notes.push(`What was in the config before: ${backup}`);
  if (moved.size > 0 && !wish.dryRun) notes.push(`Undo with: toolscout install ${client} --undo`);
  return moved;
}

/** What the commands need of other clients on this machine; read only when one of them runs. */
export function createClients(around: Around): Pick<CliDeps, 'planImport' | 'install' | 'clients'> {
  return {
    planImport: (wish) => planImport(around, wish),
    install: (wish) => installClient(around, wish),
    async clients() {
      const [{ installableClients }, { SOURCE_TYPES }] = await Promise.all([
        import('../clients/install.js'),
        import('../model/config.js'),
      ]);
      return { importable: SOURCE_TYPES, installable: installableClients() };
    },
  };
}
