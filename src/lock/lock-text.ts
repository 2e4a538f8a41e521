import { ToolscoutError } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import { isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import { printable } from '../kernel/text.js';
import {
  type Lock,
  LOCK_LISTS,
  LOCK_VERSION,
  type LockItem,
  type LockProblem,
  type LockServer,
} from '../model/lock.js';

/** Larger files are no lock files. */
export const MAX_LOCK_BYTES = 256 * 1024 * 1024;

/** A hash as it stands in a lock file. */
export function lockHash(value: JsonValue): string {
  return `sha256:${hashJson(value)}`;
}

/** JSON in which keys are sorted, two spaces a level, nothing that cannot be seen: the same bytes for the same value. */
function stableJson(value: JsonValue | undefined, indent = ''): string {
  const inner = `${indent}  `;
  if (Array.isArray(value)) {
    if (value.length === 0) return '[]';
    return `[\n${value.map((each) => `${inner}${stableJson(each, inner)}`).join(',\n')}\n${indent}]`;
  }
  if (!isObject(value)) return printable(JSON.stringify(value ?? null));
  const names = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .toSorted();
  if (names.length === 0) return '{}';
  const fields = names.map((name) => `${inner}${printable(JSON.stringify(name))}: ${stableJson(value[name], inner)}`);
  return `{\n${fields.join(',\n')}\n${indent}}`;
}

/** The bytes of a lock file: servers and items sorted, and a hash over all of it, which shows an edit by hand (SEC-10). */
export function writeLock({ lockVersion, servers }: Lock): string {
  const byName =
    <Each>(key: (each: Each) => string) =>
    (a: Each, b: Each) =>
      key(a) < key(b) ? -1 : 1;
  const sorted = servers.toSorted(byName(({ id }) => id)).map((server) => ({
    ...server,
    ...Object.fromEntries(LOCK_LISTS.map((list) => [list, server[list].toSorted(byName(({ name }) => name))])),
  })) as unknown as JsonValue;
  const content = { lockVersion, servers: sorted };
  return `${stableJson({ ...content, integrity: lockHash(content) })}\n`;
}

/** The hash over everything in a lock. */
export function hashOfLock(lock: Lock): string {
  return String((JSON.parse(writeLock(lock)) as JsonObject)['integrity']);
}

/** Reads a lock file; a problem says why it cannot be used. */
export function readLock(text: string, file: string): { readonly lock: Lock } | { readonly problem: LockProblem } {
  const bad = (what: string, suggestion = 'Restore it from git, or write a new one: toolscout lock.') => ({
    problem: { message: `The lock file ${file} ${what}`, suggestion },
  });
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return bad(/^(<{7}|={7}|>{7})/m.test(text) ? 'holds a merge conflict.' : 'is not JSON.');
  }
  if (!isObject(value) || isDeeperThan(value, LIMITS.depth + 8)) return bad('is not a lock file.');
  const { integrity, ...content } = value;
  const { lockVersion, servers } = content;
  if (typeof lockVersion === 'number' && lockVersion > LOCK_VERSION) {
    return bad(
      `was written by a newer toolscout (version ${lockVersion}; this one supports ${LOCK_VERSION}).`,
      'Update toolscout.',
    );
  }
  if (lockVersion !== LOCK_VERSION || !Array.isArray(servers)) return bad('is not a lock file.');
  if (integrity !== lockHash(content as JsonObject))
    return bad('was edited by hand: the hash "integrity" does not match its content.');
  const wrong = servers.find((server) => !isLockServer(server));
  if (wrong !== undefined) return bad('holds a server that cannot be read.');
  const read = servers as unknown as LockServer[];
  if (new Set(read.map(({ id }) => id)).size !== read.length) return bad('holds a server twice.');
  for (const server of read) {
    for (const list of LOCK_LISTS) {
      const forged = server[list].find(({ hash, definition }) => hash !== lockHash(definition));
      if (forged)
        return bad(
          `was edited by hand: the hash of "${printable(forged.name)}" of "${printable(server.id)}" does not match its definition.`,
        );
    }
  }
  return { lock: { lockVersion, servers: read } };
}

/** A problem as the error of a command. */
export function lockError({ message, suggestion }: LockProblem): ToolscoutError {
  return new ToolscoutError('CONFIGURATION_ERROR', message, { suggestion });
}

function isLockServer(value: JsonValue): boolean {
  if (!isObject(value) || typeof value['id'] !== 'string' || !isObject(value['presentation'])) return false;
  const { launch } = value;
  if (!isObject(launch) || typeof launch['target'] !== 'string') return false;
  return LOCK_LISTS.every((list) => {
    const items = value[list];
    return Array.isArray(items) && items.every(isLockItem);
  });
}

function isLockItem(value: JsonValue): value is JsonValue & LockItem {
  return (
    isObject(value) &&
    typeof value['name'] === 'string' &&
    typeof value['hash'] === 'string' &&
    value['definition'] !== undefined
  );
}
