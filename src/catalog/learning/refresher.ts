import type { Clock, Timer } from '../../kernel/clock.js';
import type { Server } from '../../model/server.js';
import type { Catalog, LearnedList } from '../catalog.js';
import type { Learner } from './learner.js';
import { isUsable } from '../catalog.js';

/** What was asked once and ends at once, such as a command, starts no server only to stop it. */
const DELAY_MS = 250;

/** Has lists that are out of date read again while they are served (DISC-4). */
export interface Refresher {
  /**
   * Runs in the background. Servers whose list is fresh, and those that failed or were asked a moment ago, are skipped.
   */
  refresh(servers: readonly Server[]): void;
  close(): void;
}

/** A refresher over `learn`, which learns many servers, some at once. */
export function createRefresher(deps: {
  readonly clock: Clock;
  readonly learner: Pick<Learner, 'isDue' | 'isLearning'>;
  readonly catalog: () => Catalog;
  readonly isOld: (list: LearnedList, now: number) => boolean;
  /** Whether a server may be asked by now; when it may it counts as asked. */
  readonly claim: (server: string) => boolean;
  readonly learn: (servers: readonly Server[]) => void;
}): Refresher {
  const { clock, learner, catalog } = deps;
  const waiting = new Set<string>();
  let timer: Timer | undefined;

  const learnWaiting = (): void => {
    timer = undefined;
    // By name: a reload may have changed what they are.
    const servers = [...waiting].flatMap((id) => catalog().servers.get(id) ?? []);
    waiting.clear();
    deps.learn(servers.filter((server) => isUsable(server) && !learner.isLearning(server.id)));
  };

  return {
    refresh(servers) {
      const now = clock.now();
      for (const server of servers) {
        const list = catalog().list(server.id);
        if (!list || !deps.isOld(list, now)) continue;
        if (isUsable(server) && learner.isDue(server.id) && deps.claim(server.id)) waiting.add(server.id);
      }
      if (waiting.size > 0) timer ??= clock.after(DELAY_MS, learnWaiting);
    },
    close() {
      timer?.cancel();
      timer = undefined;
      waiting.clear();
    },
  };
}
