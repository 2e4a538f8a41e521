import type { Problem } from '../../kernel/errors.js';
import { hashJson } from '../../kernel/hash.js';
import type { JsonValue } from '../../kernel/json.js';
import type { RuleConfig, ServerEntry } from '../../model/config.js';
import type { ImportedServer } from '../../model/source.js';
import { joinPath, problemAt } from '../read/path.js';

const MAX_ID = 64;

/** What makes two servers the same one: how they are started or reached, credentials included. */
export function launchOf(entry: ServerEntry, envFile?: string): string {
  const { command, args, env, cwd, url, headers } = entry;
  const transport = url === undefined ? undefined : entry.type === 'sse' ? 'sse' : 'http';
  const launch = { transport, command, args: args ?? [], env: env ?? {}, cwd, url, headers: headers ?? {}, envFile };
  return hashJson(launch as unknown as JsonValue);
}

/** What is taken already. */
export interface Taken {
  readonly ids: ReadonlySet<string>;
  /** Launches, with the id of the server they belong to. */
  readonly launches: ReadonlyMap<string, string>;
}

/** What became of a server that was found. */
export interface Fate {
  readonly server: ImportedServer;
  readonly fate: 'new' | 'present' | 'same' | 'name-taken';
}

/** A free id: the server's own, then with its client's name, then with a number. */
function freeId(server: ImportedServer, isTaken: (id: string) => boolean): string {
  const cut = (id: string, end: string): string => `${id.slice(0, MAX_ID - end.length)}${end}`;
  if (!isTaken(server.id)) return server.id;
  const withClient = cut(server.id, `-${server.client}`);
  let id = withClient;
  for (let n = 2; isTaken(id); n++) id = cut(withClient, `-${n}`);
  return id;
}

const rank = ({ scope }: ImportedServer): number => (scope === 'user' ? 0 : 1);

/** Two finds of one server: it is the user's own as soon as one of them is, and every tool that one turns off is off. */
function join(first: ImportedServer, second: ImportedServer): ImportedServer {
  // A file of a project turns nothing on that the user has turned off (A53).
  const isOff = first.entry.enabled === false && (second.entry.enabled === false || rank(second) > rank(first));
  const { enabled: _, ...entry } = first.entry;
  const lists = [first.enabledTools, second.enabledTools].filter((list) => list !== undefined);
  return {
    ...first,
    entry: isOff ? first.entry : entry,
    scope: first.scope === 'user' || second.scope === 'user' ? 'user' : 'project',
    disabledTools: [...new Set([...first.disabledTools, ...second.disabledTools])],
    enabledTools: lists.length < 2 ? lists[0] : lists[0]!.filter((tool) => lists[1]!.includes(tool)),
    prompts: [...first.prompts, ...second.prompts.filter((p) => !first.prompts.some((q) => q.variable === p.variable))],
  };
}

/**
 * Decides about every server that was found: one that is configured already is left alone, the same one
 * from several clients becomes one, and two that merely share a name get different ones.
 */
export function sortOut(found: readonly ImportedServer[], taken: Taken): Fate[] {
  const fates = found.map((server): { server: ImportedServer; fate: Fate['fate'] } => ({ server, fate: 'new' }));
  // No file of a project takes a name away from a server of the user.
  const order = [...found.keys()].toSorted((a, b) => rank(found[a]!) - rank(found[b]!) || a - b);
  const byLaunch = new Map<string, number>();
  const ids = new Set<string>();
  for (const at of order) {
    const server = found[at]!;
    const launch = launchOf(server.entry, server.envFile);
    const owner = taken.launches.get(launch);
    const twin = byLaunch.get(launch);
    if (owner !== undefined) fates[at] = { server: { ...server, id: owner }, fate: 'present' };
    else if (twin !== undefined) {
      fates[twin]!.server = join(fates[twin]!.server, server);
      fates[at] = { server: { ...server, id: fates[twin]!.server.id }, fate: 'same' };
    } else if (taken.ids.has(server.id)) fates[at] = { server, fate: 'name-taken' };
    else {
      const id = freeId(server, (other) => ids.has(other) || taken.ids.has(other));
      ids.add(id);
      byLaunch.set(launch, at);
      fates[at] = { server: { ...server, id }, fate: 'new' };
    }
  }
  return fates;
}

/** What deserves a look about the fates of the servers that were found. */
export function warningsAbout(found: readonly ImportedServer[], fates: readonly Fate[]): Problem[] {
  return fates.flatMap(({ server, fate }, at) => {
    const path = joinPath('sources', server.client, found[at]!.id);
    if (fate === 'name-taken') return [problemAt(path, 'is not used: a server of this config has that id')];
    if (fate !== 'new' || server.id === found[at]!.id) return [];
    return [problemAt(path, `is called "${server.id}" here, because another server has that id`)];
  });
}

/** The entry as a config has it, with the tools that its client runs without a question: names, or patterns with `*`. */
export function entryOf({ entry, autoApproved, capabilities }: ImportedServer): ServerEntry {
  const names = autoApproved.filter((name) => name.length <= MAX_NAME);
  const offered = capabilities.filter((name) => name.length <= MAX_NAME);
  return {
    ...entry,
    ...(names.length > 0 && { autoApprove: [...new Set(names)] }),
    ...(offered.length > 0 && { capabilities: [...new Set(offered)] }),
  };
}

/** Longer names are no tools; a pattern of that length would be refused. */
const MAX_NAME = 256;

/** Patterns that take names as they are; a name with a colon is tested on the whole address (PAT-3). */
function literalPatterns(id: string, names: readonly string[]): string[] {
  const escape = (name: string): string => name.replace(/^[!/]|[\\*?[\]{},]/g, (char) => `\\${char}`);
  return names
    .filter((name) => name.length <= MAX_NAME)
    .map((name) => (name.includes(':') ? `${id}:${escape(name)}` : escape(name)));
}

/**
 * The rules that keep a server's tools as its client kept them. They only ever turn tools off: a rule that turns one
 * on would make all rules an allow-list (PAT-4).
 */
export function rulesFor({ id, disabledTools, enabledTools }: ImportedServer): RuleConfig[] {
  const off = literalPatterns(id, disabledTools);
  const on = literalPatterns(id, enabledTools ?? []).map((pattern) => `!${pattern}`);
  return [
    ...(off.length > 0 ? [{ server: id, pattern: off, enabled: false }] : []),
    ...(enabledTools ? [{ server: id, pattern: ['*', ...on], enabled: false }] : []),
  ];
}
