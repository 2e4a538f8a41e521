import type { Log } from '../../kernel/log.js';
import { oneLine } from '../../kernel/text.js';
import type { AuditRecord } from '../../model/audit-record.js';

/** Characters of a name that a caller chose. */
const MAX_NAME = 128;

/** One line for a call or another request to a server: who asked, what for and how it ended; never what was sent or answered. */
export function logCall(
  log: Log,
  event: 'call' | 'relay',
  entry: Partial<
    Pick<
      AuditRecord,
      'server' | 'tool' | 'outcome' | 'code' | 'latencyMs' | 'principal' | 'route' | 'skill' | 'traceId' | 'kind'
    >
  >,
): void {
  log.info(event, {
    server: oneLine(entry.server ?? '', MAX_NAME),
    tool: entry.tool === undefined ? undefined : oneLine(entry.tool, MAX_NAME),
    method: event === 'relay' ? entry.kind : undefined,
    outcome: entry.outcome,
    code: entry.code,
    ms: entry.latencyMs === undefined ? undefined : Math.round(entry.latencyMs),
    principal: entry.principal,
    route: entry.route,
    skill: entry.skill,
    trace_id: entry.traceId,
  });
}
