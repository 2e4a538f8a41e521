import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import type { Log } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';

const SPACE = 'asking';

/** Which servers have asked their host something: no two hosts share a connection to such a server (STORE-6). */
export interface AskingMemory {
  has(server: Server): boolean;
  note(server: Server): void;
}

function keyOf(server: Server): string {
  return sha256(`${server.id}\0${server.digest}`);
}

/** Remembers it in the store, so that the first question after a start finds its host too. */
export async function openAskingMemory(store: Store, log: Log): Promise<AskingMemory> {
  const known = new Set<string>();
  try {
    for (const { key } of await store.list(SPACE)) known.add(key);
  } catch (thrown) {
    log.warn('asking.unreadable', { error: messageOf(thrown) });
  }
  return {
    has: (server) => known.size > 0 && known.has(keyOf(server)),
    note(server) {
      const key = keyOf(server);
      if (known.has(key)) return;
      known.add(key);
      // Without it, it is learned again from the next question.
      store
        .put(SPACE, key, true)
        .catch((thrown: unknown) => log.warn('asking.unsaved', { server: server.id, error: messageOf(thrown) }));
    },
  };
}
