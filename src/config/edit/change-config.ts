import { messageOf, ToolscoutError, type Problem } from '../../kernel/errors.js';
import { canonicalJson, isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import type { Config, ServerEntry } from '../../model/config.js';
import type { ConfigChange, ConfigChanges, PlannedChange, PlannedLaunch } from '../../model/config-change.js';
import { validateConfig } from '../check/validate.js';
import { createLineFinder } from '../read/line-of.js';
import { formatOf, parseData, type DataFormat } from '../read/parse.js';
import { joinPath, valueAt } from '../read/path.js';
import { keysOfField, rawField } from '../read/raw-field.js';
import { showEntry } from '../resolve/create-server.js';
import { ownLaunchProblem, type Self } from '../resolve/own-entry.js';
import { isRegistryFile } from '../resolve/resolve-sources.js';
import { isServerId, suggestServerId } from '../resolve/server-id.js';
import { keepApproved } from '../review/trust.js';
import { findLiteralSecrets, literalSecrets, type LiteralSecret } from '../secrets/literal-secrets.js';
import { secretsInConfig, secretsInText } from '../secrets/written-secrets.js';
import type { Edit } from './edit.js';
import { editText } from './edit-text.js';
import { editsBetween } from './edits-between.js';
import { openFile, replaceFile } from './replace-file.js';

/** Which files are changed, and on whose behalf. */
export interface ChangeOptions {
  /** The file that is made where none is in force. */
  readonly newPath: string;
  readonly stateDirectory?: string;
  readonly now: () => number;
  /** How toolscout itself is started and reached: it is not written. */
  readonly self?: Self;
  /** Where the configuration is served. */
  readonly http: () => Pick<Config['http'], 'port' | 'publicUrl'>;
}

/** How to keep a credential out of the file. */
function insteadOf({ name: place }: LiteralSecret): string {
  const name = /^env (\w+)$/.exec(place)?.[1] ?? 'NAME';
  return `Write \${${name}}, then run toolscout secret set ${name}.`;
}

const byHand = 'Change it with an editor.';

function refusal(path: string, reason: string): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `${path} ${reason}.`, { suggestion: byHand, file: path });
}

/** The file in force is gone: one with a single change would take the place of everything else that it held. */
function isGone(path: string): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', `The config file ${path} does not exist any more.`, {
    suggestion: 'Put the file back, then make the change again.',
    file: path,
  });
}

/** A change of one part of a file needs a file that can be read. */
function isBroken(path: string, thrown: unknown): ToolscoutError {
  const [problem] = thrown instanceof ToolscoutError ? thrown.problems : [];
  const what = problem ? `${problem.path}: ${problem.message}` : messageOf(thrown);
  return new ToolscoutError('CONFIGURATION_ERROR', `The config file ${path} was changed and cannot be read: ${what}.`, {
    suggestion: 'Correct the file first; the previous config stays in force until then.',
    problems: problem ? [problem] : [],
    file: path,
  });
}

function dataFormatOf(path: string): DataFormat {
  const format = formatOf(path);
  if (format !== 'ts' && format !== 'js' && format !== 'mjs') return format;
  throw refusal(path, 'is code, which toolscout does not edit');
}

const isSame = (a: unknown, b: unknown): boolean =>
  a !== undefined && b !== undefined && canonicalJson(a as JsonValue) === canonicalJson(b as JsonValue);

function editsOf(change: Exclude<ConfigChange, { text: string }>, raw: unknown): Edit[] {
  if ('toolRules' in change) {
    const keys = keysOfField(raw, 'toolRules');
    return editsBetween(keys, valueAt(raw, keys), change.toolRules as unknown as JsonValue);
  }
  return Object.entries(change.servers).flatMap(([id, entry]) => {
    const keys = [...keysOfField(raw, 'servers'), id];
    return entry === null ? [{ keys }] : editsBetween(keys, valueAt(raw, keys), entry);
  });
}

const serversOf = (raw: unknown): Record<string, unknown> => {
  const servers = rawField(raw, 'servers');
  return isObject(servers) ? servers : {};
};

/** Servers whose entry is new or says something else. */
function changedServers(before: unknown, after: unknown): Array<readonly [string, ServerEntry]> {
  const known = serversOf(before);
  return Object.entries(serversOf(after)).flatMap(([id, entry]) =>
    isObject(entry) && !isSame(known[id], entry) ? [[id, entry as ServerEntry] as const] : [],
  );
}

/** The fields of an entry that may hold a credential, as far as they are what they must be: it need not be valid. */
function textsOf({ command, url, args, env, headers }: Readonly<Record<string, unknown>>): ServerEntry {
  const isText = (value: unknown): value is string => typeof value === 'string';
  const pairs = (value: unknown): Record<string, string> =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).filter((pair): pair is [string, string] => isText(pair[1])))
      : {};
  return {
    ...(isText(command) && { command }),
    ...(isText(url) && { url }),
    args: Array.isArray(args) ? args.filter(isText) : [],
    env: pairs(env),
    headers: pairs(headers),
  } as ServerEntry;
}

/** What a change would start or reach that the config in force does not. */
function launchesOf(inForce: Readonly<Record<string, unknown>>, after: unknown): PlannedLaunch[] {
  return changedServers({ servers: inForce }, after).flatMap(([server, entry]) => {
    const shown = showEntry(entry);
    const old = inForce[server];
    const was = isObject(old) ? showEntry(old as ServerEntry) : undefined;
    return isSame(shown, was) ? [] : [{ server, ...shown }];
  });
}

/** A problem that was there before is no reason to stop. */
function newProblems(before: unknown, after: unknown): Problem[] {
  const key = ({ path, message }: Problem): string => JSON.stringify([path, message]);
  const known = new Set(validateConfig(before).problems.map(key));
  return validateConfig(after).problems.filter((problem) => !known.has(key(problem)));
}

/** Changes of the config file: planned first, then written exactly as planned, or not at all (STUDIO-8). */
export function createConfigChanges(options: ChangeOptions): ConfigChanges {
  const { newPath, stateDirectory, now, self } = options;

  const read: ConfigChanges['read'] = async (path) => {
    const { text } = await openFile(path ?? newPath);
    return { path: path ?? newPath, ...(text !== undefined && { text }) };
  };

  /** What must not be written although it is a valid config. */
  const objections = (change: ConfigChange, before: readonly unknown[], after: unknown, path: string): Problem[] => {
    const allowSecrets = 'allowSecrets' in change && change.allowSecrets === true;
    return changedServers(before[0], after).flatMap(([id, entry]) => {
      const where = joinPath('servers', id);
      const own = self && ownLaunchProblem(entry, self, { ...options.http(), config: path });
      const entries = before.map((config) => serversOf(config)[id]).filter(isObject);
      const known = new Set(entries.flatMap((old) => literalSecrets(old as ServerEntry)));
      const secrets = findLiteralSecrets(entry).filter(({ name }) => !known.has(name));
      return [
        ...(isServerId(id) ? [] : [{ path: where, message: `cannot be an id; use "${suggestServerId(id)}"` }]),
        ...(own === undefined ? [] : [{ path: where, message: own }]),
        ...(allowSecrets
          ? []
          : secrets.map((secret) => ({
              path: joinPath(where, ...secret.keys),
              message: `looks like a credential in plain text. ${insteadOf(secret)}`,
            }))),
      ];
    });
  };

  return {
    read,

    async place(problems, text, path) {
      if (problems.length === 0) return [];
      const format = formatOf(path);
      const isData = format !== 'ts' && format !== 'js' && format !== 'mjs';
      const lineOf = await createLineFinder(text.replace(/^\ufeff/, ''), isData ? format : undefined);
      return problems.map((problem) => {
        const line = lineOf(problem.path);
        return line === undefined ? problem : { ...problem, line };
      });
    },

    async serversIn(text, path) {
      const raw = await parseData(text, path, dataFormatOf(path));
      const entries = Object.entries(serversOf(raw)).filter(([, entry]) => isObject(entry));
      return Object.fromEntries(entries) as Record<string, JsonObject>;
    },

    async secretsIn(text, path) {
      try {
        return secretsInConfig(await parseData(text, path, dataFormatOf(path)));
      } catch {
        // It is broken, or code.
        return secretsInText(text);
      }
    },

    async plan(change, path, inForce) {
      const file = await read(path);
      if (path !== undefined && file.text === undefined && !('text' in change)) throw isGone(path);
      const format = dataFormatOf(file.path);
      const text = file.text ?? '';
      const fail = (thrown: unknown, at = 'file'): PlannedChange => ({
        path: file.path,
        ...(file.text !== undefined && { before: file.text }),
        after: 'text' in change ? change.text : text,
        problems:
          thrown instanceof ToolscoutError && thrown.problems.length > 0
            ? thrown.problems
            : [{ path: at, message: messageOf(thrown) }],
        warnings: [],
        secrets: [],
        launches: [],
      });
      const parse = (content: string): Promise<unknown> => parseData(content, file.path, format);
      // Of a file that cannot be read nothing is known; only a whole new text mends it.
      const before = await parse(text).catch((thrown: unknown) =>
        'text' in change ? {} : Promise.reject(isBroken(file.path, thrown)),
      );
      if (isRegistryFile(before))
        throw refusal(file.path, 'is an mcp.json with a list of servers, which toolscout does not edit');
      try {
        const after =
          'text' in change ? change.text : await editText(text, { path: file.path, format }, editsOf(change, before));
        const parsed = await parse(after);
        const { warnings } = validateConfig(parsed);
        const problems = newProblems(before, parsed);
        // Invalid entries can be neither judged nor shown.
        const isValid = problems.length === 0;
        return {
          path: file.path,
          ...(file.text !== undefined && { before: file.text }),
          after,
          problems: isValid ? objections(change, [before, { servers: inForce }], parsed, file.path) : problems,
          warnings,
          secrets: changedServers(before, parsed).flatMap(([, entry]) =>
            findLiteralSecrets(textsOf(entry)).flatMap(({ values }) => values),
          ),
          launches: isValid ? launchesOf(inForce ?? serversOf(before), parsed) : [],
        };
      } catch (thrown) {
        return fail(thrown);
      }
    },

    async write({ path, before, after }) {
      await keepApproved({ path, stateDirectory, now }, async () => {
        const opened = await openFile(path);
        if (opened.text !== before) throw refusal(path, 'was changed since the change was planned');
        await replaceFile(opened, after);
      });
    },
  };
}
