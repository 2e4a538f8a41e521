import type { JsonValue } from '../kernel/json.js';
import type { Change } from '../model/approval.js';
import { type Drift, type DriftSubject, type Lock, LOCK_LISTS, type LockItem, type LockServer } from '../model/lock.js';

/** Where two values differ. */
export type CompareJson = (before: JsonValue | undefined, after: JsonValue | undefined) => readonly Change[];

type Found = Omit<Drift, 'line'>;

/** Everything in which what is there now differs from a lock, in the order of the lock. */
export function compareLocks(before: Lock, after: Lock, compare: CompareJson): Found[] {
  const now = new Map(after.servers.map((server) => [server.id, server]));
  const then = new Set(before.servers.map(({ id }) => id));
  const drifts = before.servers.flatMap((server) => {
    const current = now.get(server.id);
    return current ? compareServers(server, current, compare) : [whole(server.id, 'removed')];
  });
  const added = after.servers.filter(({ id }) => !then.has(id)).map(({ id }) => whole(id, 'added'));
  return [...drifts, ...added];
}

function whole(server: string, change: 'added' | 'removed'): Found {
  return { server, subject: 'server', change, changes: [] };
}

function compareServers(before: LockServer, after: LockServer, compare: CompareJson): Found[] {
  const { id } = before;
  const field = (subject: DriftSubject, old: unknown, now: unknown): Found[] => {
    const changes = compare(old as JsonValue | undefined, now as JsonValue | undefined);
    return changes.length === 0 ? [] : [{ server: id, subject, change: 'changed', changes }];
  };
  const launch = field('launch', before.launch, after.launch);
  // A server that is started in another way was not asked, so there is nothing else to compare.
  if (launch.length > 0) return launch;
  return [
    ...field('package', knownPackage(before, after), knownPackage(after, before)),
    ...(before.protocolVersion === undefined || after.protocolVersion === undefined
      ? []
      : field('protocolVersion', before.protocolVersion, after.protocolVersion)),
    ...field('presentation', before.presentation, after.presentation),
    ...LOCK_LISTS.flatMap((list) =>
      compareItems(before[list], after[list], compare).map((found) => ({ server: id, subject: list, ...found })),
    ),
  ];
}

/** What both sides know of a package: one that is not installed here has no version to compare. */
function knownPackage({ package: own }: LockServer, { package: other }: LockServer): unknown {
  if (!own) return undefined;
  const { name, requested, version, integrity } = own;
  return {
    name,
    requested,
    ...(other?.version !== undefined && { version }),
    ...(other?.integrity !== undefined && { integrity }),
  };
}

type ItemDrift = Pick<Drift, 'name' | 'change' | 'changes'>;

function compareItems(before: readonly LockItem[], after: readonly LockItem[], compare: CompareJson): ItemDrift[] {
  const now = new Map(after.map((item) => [item.name, item]));
  const then = new Set(before.map(({ name }) => name));
  const gone = before.flatMap(({ name, hash, definition }): ItemDrift[] => {
    const current = now.get(name);
    if (!current) return [{ name, change: 'removed', changes: [] }];
    if (current.hash === hash) return [];
    return [{ name, change: 'changed', changes: compare(definition, current.definition) }];
  });
  const added = after
    .filter(({ name }) => !then.has(name))
    .map(({ name, definition }): ItemDrift => ({ name, change: 'added', changes: compare(undefined, definition) }));
  return [...gone, ...added];
}

/** The line at which a drift stands in the text of a lock file; 1 for what is not in it. */
export function lineOf(text: string, { server, subject, name }: Found): number {
  const lines = text.split('\n').map((line) => line.replace(/,$/, ''));
  // The id of a server is the only one at its depth, and its fields are sorted: what comes before it in the alphabet stands above.
  const own = lines.indexOf(`      "id": ${JSON.stringify(server)}`);
  if (own === -1) return 1;
  const [start, end] = [lines.lastIndexOf('    {', own), lines.indexOf('    }', own)];
  const field = lines.findIndex((line, at) => at > start && at < end && line.startsWith(`      "${subject}":`));
  if (field === -1) return own + 1;
  // An empty list ends in the line in which it begins.
  const last = lines[field]!.endsWith('[') ? lines.indexOf('      ]', field) : field;
  const named = name === undefined ? -1 : lines.indexOf(`          "name": ${JSON.stringify(name)}`, field);
  return (named === -1 || named > last ? field : named) + 1;
}
