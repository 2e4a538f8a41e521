import { sleep, type Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';
import type { Catalog } from '../catalog.js';
import type { Replicas } from '../replicas.js';
import type { LearnFailure } from './failure-memory.js';
import type { Learned } from './pipeline.js';

/** How often a replica looks whether another one has finished. */
const LOOK_MS = 200;

/** What dividing the learning needs. */
export interface LearnOnceDeps {
  readonly replicas: Pick<Replicas, 'claim' | 'release'>;
  readonly clock: Clock;
  readonly catalog: () => Catalog;
  /** Takes over lists that other replicas learned. */
  readonly look: () => Promise<void>;
  /** The last failure that is known, of this replica or of another one. */
  readonly lastFailure: (server: string) => LearnFailure | undefined;
  readonly signal: AbortSignal;
}

/**
 * Learns a server in the background: one of the replicas asks it, and the others take over its list (STORE-3). If that
 * replica disappears, another one asks.
 *
 * @throws ToolscoutError `CANCELLED` when the asking replica failed: its failure is recorded and counts.
 */
export async function learnOnce(server: Server, deps: LearnOnceDeps, learn: () => Promise<Learned>): Promise<Learned> {
  const { replicas, catalog, signal } = deps;
  const work = `learn ${server.id} ${server.digest}`;
  const learnedBefore = catalog().list(server.id)?.learnedAt;
  const failedBefore = deps.lastFailure(server.id)?.at;
  const taken = (): Learned | undefined => {
    const list = catalog().list(server.id);
    if (list && list.learnedAt !== learnedBefore) return { tools: list.items.length, dropped: [] };
    const failure = deps.lastFailure(server.id);
    if (failure === undefined || failure.at === failedBefore) return undefined;
    const { message, remedy } = failure.error;
    throw new ToolscoutError('CANCELLED', `Another replica could not list the tools of "${server.id}": ${message}`, {
      remedy,
    });
  };
  for (;;) {
    const isOurs = await replicas.claim(work);
    try {
      if (isOurs) await deps.look();
      const done = taken();
      if (done) return done;
      if (isOurs) return await learn();
    } finally {
      if (isOurs) await replicas.release(work);
    }
    await sleep(deps.clock, LOOK_MS, signal);
  }
}
