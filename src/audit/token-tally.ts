import type { AuditRecord, TokenCount } from '../model/audit-record.js';

/**
 * The maximum of servers with sums of their own; configured ones are fewer, and other names from callers must not fill
 * the memory.
 */
const MAX_SERVERS = 10_000;

/** The tokens of records that were stored, by server; under the empty name what belongs to none. */
export interface TokenTally {
  readonly counts: ReadonlyMap<string, TokenCount>;
  readonly add: (record: AuditRecord) => void;
}

/** An empty tally. */
export function createTokenTally(): TokenTally {
  const counts = new Map<string, TokenCount>();
  return {
    counts,
    add({ server = '', outcome, tokens }) {
      if (!tokens) return;
      // A refused call may name a server that does not exist.
      const name = outcome === 'refused' || (!counts.has(server) && counts.size >= MAX_SERVERS) ? '' : server;
      const before = counts.get(name);
      counts.set(name, {
        arguments: (before?.arguments ?? 0) + tokens.arguments,
        returned: (before?.returned ?? 0) + tokens.returned,
        withheld: (before?.withheld ?? 0) + tokens.withheld,
      });
    },
  };
}
