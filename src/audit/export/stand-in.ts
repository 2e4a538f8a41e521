import type { AuditRecord } from '../../model/audit-record.js';

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
