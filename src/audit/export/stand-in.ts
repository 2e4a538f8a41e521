import { oneLine } from '../../kernel/text.js';
import type { AuditRecord } from '../../model/audit-record.js';

/** Characters of one text in a record that was shortened. */
const MAX_TEXT = 200;

/** The kind of what is sent in place of a record that a sink refuses; it is in no log of toolscout. */
const NOTE_KIND = 'export-refused';

/** What a sink gets in place of a record that it refuses: its id, and nothing that a caller wrote. */
export function noteFor({ id, time }: AuditRecord, status: number, now: number): AuditRecord {
  return {
    id,
    // A sink may refuse what is old.
    time: now,
    kind: NOTE_KIND,
    principal: 'toolscout',
    outcome: 'failure',
    message: `The receiver refused this record with the status ${status}. It is in the audit log of toolscout only.`,
    detail: { time, status },
  };
}

/** A record without what can be long, for transports that take short messages only. */
export function shortened(record: AuditRecord): AuditRecord {
  const { arguments: _arguments, detail: _detail, ...rest } = record;
  const entries = Object.entries(rest).map(([key, value]) => [
    key,
    typeof value === 'string' ? oneLine(value, MAX_TEXT) : value,
  ]);
  return { ...(Object.fromEntries(entries) as AuditRecord), detail: { shortened: true } };
}
