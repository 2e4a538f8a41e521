import type { Audit } from '../audit/index.js';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import type { Log } from '../kernel/log.js';
import type { Viewer } from '../model/viewer.js';

const POLL_MS = 1000;
/** Of more new calls than this within one poll the servers of the oldest are not named. */
const PAGE = 256;

/** Tells that calls were made, at most once a second however many they are, and by whichever process over the same store. */
export interface CallWatch {
  /** `listener` gets the servers that were called, as far as the viewer sees them. */
  follow(viewer: Viewer, listener: (servers: readonly string[]) => void): () => void;
}

/** Looks at the newest record of the audit log while it has a listener; a call itself costs nothing more. */
export function createCallWatch(deps: {
  readonly audit: Pick<Audit, 'query'>;
  readonly clock: Clock;
  readonly log: Log;
}): CallWatch {
  const { audit, clock, log } = deps;
  const followers = new Set<(servers: readonly string[]) => void>();
  let newest: string | undefined;
  let since = 0;
  let isFailing = false;
  let timer: Timer | undefined;
  let isLooking = false;

  /** The servers of what was recorded since the last look. */
  const look = async (): Promise<string[]> => {
    const [latest] = await audit.query({ kind: 'execution', limit: 1 });
    if (!latest || latest.id === newest) return [];
    const page = await audit.query({ kind: 'execution', limit: PAGE });
    const known = page.findIndex(({ id, time }) => (newest === undefined ? time < since : id === newest));
    const fresh = known === -1 ? page : page.slice(0, known);
    newest = latest.id;
    return [...new Set(fresh.flatMap(({ server }) => server ?? []))];
  };

  const poll = async (): Promise<void> => {
    timer = undefined;
    isLooking = true;
    try {
      const servers = await look();
      isFailing = false;
      if (servers.length > 0) for (const tell of followers) tell(servers);
    } catch (thrown) {
      if (!isFailing) log.warn('calls.follow-failed', { error: messageOf(thrown) });
      isFailing = true;
    }
    isLooking = false;
    if (followers.size > 0) timer = clock.after(POLL_MS, () => void poll());
  };

  return {
    follow(viewer, listener) {
      const tell = (servers: readonly string[]): void => {
        const seen = viewer.isLimited ? servers.filter((server) => viewer.sees(server)) : servers;
        if (seen.length > 0) listener(seen);
      };
      followers.add(tell);
      if (!timer && !isLooking) {
        since = clock.now();
        newest = undefined;
        timer = clock.after(0, () => void poll());
      }
      return () => {
        followers.delete(tell);
        if (followers.size > 0) return;
        timer?.cancel();
        timer = undefined;
      };
    },
  };
}
