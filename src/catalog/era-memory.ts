import type { EraDecision, EraMemory } from '../connect/index.js';
import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';

const SPACE = 'verdicts';

/** One verdict a server and credential: another token may be answered by another version. */
function keyOf(server: Server): string {
  return sha256(`${server.id}\0${server.digest}`);
}

function asVerdict(value: unknown): EraDecision | undefined {
  if (!isObject(value) || typeof value['decidedAt'] !== 'number') return undefined;
  const { discover, transport } = value;
  if (discover !== undefined && !isObject(discover)) return undefined;
  if (transport !== undefined && transport !== 'http' && transport !== 'sse') return undefined;
  const isKnown = ['modern', 'legacy', 'plain'].includes(String(value['kind']));
  return isKnown ? (value as unknown as EraDecision) : undefined;
}

/** Remembers in the store which protocol era a server speaks, so that a second start makes no probe (CONN-1). */
export function createEraMemory(store: Store, log: Log): EraMemory {
  return {
    async recall(server) {
      try {
        return asVerdict((await store.get(SPACE, keyOf(server)))?.value);
      } catch (thrown) {
        log.warn('verdict.unreadable', { server: server.id, error: messageOf(thrown) });
        return undefined;
      }
    },
    async remember(server, verdict) {
      try {
        await store.put(SPACE, keyOf(server), verdict as unknown as JsonObject);
      } catch (thrown) {
        // Without it the next start probes again; that is slower, and nothing else.
        log.warn('verdict.unsaved', { server: server.id, error: messageOf(thrown) });
      }
    },
  };
}
