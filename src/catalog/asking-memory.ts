import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';

const SPACE = 'asking';

/** Which servers have asked their host something: no two hosts share a connection to such a server (STORE-6). */
export interface AskingMemory {
  has(server: Server): boolean;
  note(server: Server): void;
  /** The era in which a server of both could not ask its host. */
  unable(server: Server): 'legacy' | 'modern' | undefined;
  noteUnable(server: Server, era: 'legacy' | 'modern'): void;
}

/** What is known of one server. */
interface Known {
  readonly asks: boolean;
  readonly unable?: 'legacy' | 'modern';
}

function keyOf(server: Server): string {
  return sha256(`${server.id}\0${server.digest}`);
}

/** Earlier versions wrote `true` for a server that asks, and nothing for any other. */
function readKnown(value: JsonValue): Known {
  if (!isObject(value)) return { asks: true };
  const { unable } = value;
  return { asks: value['asks'] === true, ...((unable === 'legacy' || unable === 'modern') && { unable }) };
}

/** Remembers it in the store, so that the first question after a start finds its host too. */
export async function openAskingMemory(store: Store, log: Log): Promise<AskingMemory> {
  const known = new Map<string, Known>();
  try {
    for (const { key, value } of await store.list(SPACE)) known.set(key, readKnown(value));
  } catch (thrown) {
    log.warn('asking.unreadable', { error: messageOf(thrown) });
  }
  const keep = (server: Server, learned: Partial<Known>): void => {
    const key = keyOf(server);
    const now = { asks: false, ...known.get(key), ...learned };
    known.set(key, now);
    // Without it, it is learned again from the next question.
    store
      .put(SPACE, key, now.unable === undefined ? true : { ...now })
      .catch((thrown: unknown) => log.warn('asking.unsaved', { server: server.id, error: messageOf(thrown) }));
  };
  return {
    has: (server) => known.size > 0 && known.get(keyOf(server))?.asks === true,
    note(server) {
      if (known.get(keyOf(server))?.asks !== true) keep(server, { asks: true });
    },
    unable: (server) => (known.size > 0 ? known.get(keyOf(server))?.unable : undefined),
    noteUnable(server, era) {
      if (known.get(keyOf(server))?.unable !== era) keep(server, { unable: era });
    },
  };
}
