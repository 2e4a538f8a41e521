import type { AuditExport, AuditExportQuery } from '../../model/audit-export.js';
import type { Store } from '../../model/store.js';
import { formatRecord } from './formats.js';

const MAX_RECORDS = 1000;

/** One portion of the log, oldest first, as lines (SEC-12). */
export async function exportPortion(store: Store, query: AuditExportQuery): Promise<AuditExport> {
  const { format = 'jsonl', since = 0, after = 0, limit = MAX_RECORDS } = query;
  const asked = Math.min(Math.max(1, Math.floor(limit)), MAX_RECORDS);
  const { records, position } = await store.auditAfter(after, asked);
  const lines = records.filter(({ time }) => time >= since).map((record) => formatRecord(record, format));
  // A record that cannot be read moves the place on without a line.
  return { lines, position, done: position === after };
}
