import { readFile, stat } from 'node:fs/promises';
import { messageOf } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonValue } from '../kernel/json.js';
import { type Lock, type LockedServer, type LockGate, type LockProblem, type LockServer } from '../model/lock.js';
import type { Cleaner } from './clean.js';
import { lockHash, MAX_LOCK_BYTES, readLock } from './lock-text.js';
import { launchHash, lockLaunch } from './make.js';

/** A lock file as it was read. */
export type ReadLock = { readonly text: string; readonly lock: Lock } | { readonly problem: LockProblem };

/** Reads a lock file; never rejects. */
export async function readLockFile(path: string): Promise<ReadLock> {
  try {
    if ((await stat(path)).size > MAX_LOCK_BYTES) throw new Error('it is too large');
    const text = await readFile(path, 'utf8');
    const read = readLock(text, path);
    return 'lock' in read ? { text, lock: read.lock } : read;
  } catch (thrown) {
    const isMissing = thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT';
    return {
      problem: {
        message: isMissing
          ? `There is no lock file ${path}.`
          : `The lock file ${path} cannot be read: ${messageOf(thrown)}.`,
        suggestion: isMissing
          ? 'Restore it from git, or write it: toolscout lock.'
          : 'Make the file readable for this user, then reload the config.',
      },
    };
  }
}

/** The lock file in force, for the approvals. It is read on request, and not in between. */
export interface LockSource {
  readonly gate: LockGate;
  load(): Promise<void>;
}

/** A source that holds nothing until it is loaded. */
export function createLockSource(options: { readonly path: () => string; readonly cleaner: Cleaner }): LockSource {
  const { path, cleaner } = options;
  const unread: ReadLock = {
    problem: { message: 'The lock file was not read yet.', suggestion: 'Try again in a moment.' },
  };
  let read: ReadLock = unread;
  let servers = new Map<string, { readonly launch: string; readonly locked: LockedServer }>();
  return {
    gate: {
      problem: () => ('problem' in read ? read.problem : undefined),
      server(server) {
        const found = servers.get(server.id);
        if (!found) return 'missing';
        return found.launch === launchHash(lockLaunch(server, cleaner)) ? found.locked : 'launch';
      },
    },
    async load() {
      read = await readLockFile(path());
      const all = 'lock' in read ? read.lock.servers : [];
      servers = new Map(
        all.map((server) => [server.id, { launch: launchHash(server.launch), locked: lockedServer(server, cleaner) }]),
      );
    },
  };
}

/** Items are named as the approvals name them; a tool and a prompt may share such a name, so a name can have several hashes. */
function lockedServer(server: LockServer, cleaner: Cleaner): LockedServer {
  const hashes = new Map<string, Set<string>>();
  const add = (name: string, hash: string): void => {
    const known = hashes.get(name);
    if (known) known.add(hash);
    else hashes.set(name, new Set([hash]));
  };
  for (const { name, hash } of server.tools) add(name, hash);
  for (const { name, hash } of server.prompts) add(`prompts/${name}`, hash);
  for (const { name, hash } of server.resources) add(`resources/${name}`, hash);
  for (const { name, hash } of server.resourceTemplates) add(`templates/${name}`, hash);
  const presentation = hashJson(server.presentation);
  const digests = new WeakMap<object, string>();
  const digest = (definition: JsonValue): string => {
    if (typeof definition !== 'object' || definition === null) return lockHash(cleaner.json(definition));
    let known = digests.get(definition);
    if (known === undefined) digests.set(definition, (known = lockHash(cleaner.json(definition))));
    return known;
  };
  return {
    isPresentation: (shown) => hashJson(cleaner.json(shown)) === presentation,
    judge(name, definition) {
      const known = hashes.get(cleaner.text(name));
      if (!known) return 'missing';
      return known.has(digest(definition)) ? 'held' : 'changed';
    },
  };
}
