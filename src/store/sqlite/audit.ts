import type { AuditFilter, AuditRecord } from '../../model/audit-record.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { pageSize } from '../page-size.js';
import type { Column, Connection } from './connection.js';
import { fromText, toName, toText } from '../stored-text.js';

/** Rows that one transaction of pruning deletes, so that it never blocks for long. */
const PRUNED_AT_ONCE = 2000;

const ROW = '(?, ?, ?, ?, ?, ?, ?)';
const insertOf = (rows: number): string => `insert into audit (id, time, kind, server, tool, outcome, body)
  values ${Array.from({ length: rows }, () => ROW).join(', ')} on conflict (id) do nothing`;

/** Rows of one statement: a call into SQLite for every record costs more than the record. */
const MANY = 16;
const INSERT_MANY = insertOf(MANY);
const INSERT_ONE = insertOf(1);
const PRUNE = `delete from audit where seq in (select seq from audit where time < ? limit ${PRUNED_AT_ONCE})`;

/** A record as the row it becomes. */
export function toRow(record: AuditRecord): Column[] {
  const { id, time, kind, server, tool, outcome } = record;
  return [toName(id), time, toName(kind), nameOrNull(server), nameOrNull(tool), outcome, toText(record)];
}

function nameOrNull(name: string | undefined): string | null {
  return name === undefined ? null : toName(name);
}

/** Adds rows; one whose id is there already is passed over, so that an append may be repeated. */
export function insertRows(connection: Connection, rows: readonly (readonly Column[])[]): void {
  const whole = rows.length - (rows.length % MANY);
  for (let at = 0; at < whole; at += MANY) {
    const values: Column[] = [];
    for (let row = at; row < at + MANY; row++) values.push(...rows[row]!);
    connection.run(INSERT_MANY, ...values);
  }
  for (const row of rows.slice(whole)) connection.run(INSERT_ONE, ...row);
}

/** The newest matching records in the order of appending, newest first. What cannot be read goes to `onBad`. */
export function selectRecords(
  connection: Connection,
  filter: AuditFilter,
  onBad: (seq: Column) => void,
): AuditRecord[] {
  const conditions: string[] = [];
  const values: Column[] = [];
  const where = (condition: string, value: Column): void => {
    if (value === null) return;
    conditions.push(condition);
    values.push(value);
  };
  where('server = ?', nameOrNull(filter.server));
  where('tool = ?', nameOrNull(filter.tool));
  where('kind = ?', nameOrNull(filter.kind));
  where('outcome = ?', filter.outcome ?? null);
  where('time >= ?', filter.since ?? null);
  const sql = `select seq, cast(body as blob) from audit${conditions.length > 0 ? ` where ${conditions.join(' and ')}` : ''}
    order by seq desc limit ?`;
  const records: AuditRecord[] = [];
  for (const [seq, body] of connection.rows(sql, ...values, pageSize(filter.limit))) {
    const read = fromText(body);
    if (read && isRecord(read.value)) records.push(read.value);
    else onBad(seq ?? null);
  }
  return records;
}

function isRecord(value: unknown): value is AuditRecord & JsonObject {
  if (!isObject(value)) return false;
  const { id, time, kind, principal, outcome } = value;
  return typeof time === 'number' && [id, kind, principal, outcome].every((text) => typeof text === 'string');
}

/** Deletes a portion of the records older than a time; answers how many, 0 when none is left. */
export function pruneSome(connection: Connection, before: number): number {
  return connection.run(PRUNE, before);
}
