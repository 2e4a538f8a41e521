import type { ServerView } from '../api/types.js';

/** A server of whose tools agents get none. */
export interface MissingServer {
  readonly id: string;
  /** A person turned it off; nothing is wrong with it. */
  readonly isDisabled: boolean;
  /** Why, as a sentence. */
  readonly reason: string;
}

type Shown = Pick<ServerView, 'id' | 'enabled' | 'problem'>;

/** The servers of whose tools agents get none: what fails first, then what is disabled. */
export function missingServers(servers: readonly Shown[]): MissingServer[] {
  const missing = servers.flatMap(({ id, enabled, problem }): MissingServer[] => {
    if (!enabled) return [{ id, isDisabled: true, reason: 'It is disabled. Open it to enable it again.' }];
    return problem === undefined ? [] : [{ id, isDisabled: false, reason: problem }];
  });
  return missing.toSorted((a, b) => Number(a.isDisabled) - Number(b.isDisabled));
}
