import type { AuditFilter, AuditRecord } from '../../model/audit-record.js';
import type { AuditSumQuery, StatsGroup } from '../../model/stats.js';
import { PAGE, pageSize } from '../page-size.js';
import type { Column, Connection } from './connection.js';
import { dayName, hourName, type SumPart } from '../audit-sums.js';
import { isRecord } from '../stored-record.js';
import { fromName, fromText, toName, toText } from '../stored-text.js';

/** Rows that one transaction of pruning deletes, so that it never blocks for long. */
const PRUNED_AT_ONCE = 2000;

const ROW = `(${Array.from({ length: 12 }, () => '?').join(', ')})`;
const insertOf = (rows: number): string => `insert into audit (seq, id, time, kind, server, tool, outcome, body,
    principal, tokens_arguments, tokens_returned, tokens_withheld)
  values ${Array.from({ length: rows }, () => ROW).join(', ')} on conflict (id) do nothing`;

/** Rows of one statement: a call into SQLite for every record costs more than the record. */
const MANY = 16;
const INSERT_MANY = insertOf(MANY);
const INSERT_ONE = insertOf(1);
const PRUNE = `delete from audit where seq in (select seq from audit where time < ? limit ${PRUNED_AT_ONCE})`;

/** A record as the row it becomes. */
export function toRow(record: AuditRecord): Column[] {
  const { id, time, kind, server, tool, outcome, principal, tokens } = record;
  return [
    toName(id),
    time,
    toName(kind),
    nameOrNull(server),
    nameOrNull(tool),
    outcome,
    toText(record),
    toName(principal),
    tokens?.arguments ?? null,
    tokens?.returned ?? null,
    tokens?.withheld ?? null,
  ];
}

function nameOrNull(name: string | undefined): string | null {
  return name === undefined ? null : toName(name);
}

/**
 * Adds rows behind the place `base`; one whose id is there already is passed over, so that an append may be repeated. Answers how many
 * were added.
 */
export function insertRows(connection: Connection, rows: readonly (readonly Column[])[], base: number): number {
  const whole = rows.length - (rows.length % MANY);
  let added = 0;
  for (let at = 0; at < whole; at += MANY) {
    const values: Column[] = [];
    for (let row = at; row < at + MANY; row++) values.push(base + 1 + row, ...rows[row]!);
    added += connection.run(INSERT_MANY, ...values);
  }
  for (let at = whole; at < rows.length; at++) added += connection.run(INSERT_ONE, base + 1 + at, ...rows[at]!);
  return added;
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

const PAGE_AFTER = `select seq, cast(body as blob) from audit where seq > ? order by seq limit ?`;

/** The records after a place in the log, oldest first, and the place of the last; none at the end. */
export function selectPage(
  connection: Connection,
  after: number,
  onBad: (seq: Column) => void,
  limit = PAGE,
): { readonly records: AuditRecord[]; readonly last: number | undefined } {
  const rows = connection.rows(PAGE_AFTER, after, limit);
  const records: AuditRecord[] = [];
  for (const [seq, body] of rows) {
    const read = fromText(body);
    if (read && isRecord(read.value)) records.push(read.value);
    else onBad(seq ?? null);
  }
  const last = rows.at(-1)?.[0];
  return { records, last: last === undefined ? undefined : Number(last) };
}

/** Records that are added up in one step, in which nothing else runs. */
const SUMMED_AT_ONCE = 10_000;

/** What records are grouped by, as bytes, since text that is not UTF-8 makes the engine abort. */
const GROUPS: Readonly<Record<StatsGroup, string>> = {
  day: 'time / 86400000',
  hour: 'time / 3600000',
  server: 'cast(server as blob)',
  tool: 'cast(tool as blob)',
  // Records of the version before have it in their bodies only.
  principal: `cast(coalesce(principal, case when json_valid(body) then json_extract(body, '$.principal') end) as blob)`,
  // It is asked for seldom, and has no column.
  host: `cast(case when json_valid(body) and json_type(body, '$.host') = 'text'
    then substr(json_quote(json_extract(body, '$.host')), 2, length(json_quote(json_extract(body, '$.host'))) - 2) end as blob)`,
};

const readGroup = (group: StatsGroup, value: Column | undefined): string | undefined => {
  if (value === null || value === undefined) return undefined;
  if (group === 'day') return dayName(Number(value));
  return group === 'hour' ? hourName(Number(value)) : fromName(value);
};

/** Adds up the records after `seq`, as many as one step takes; `last` is where the next step begins, `undefined` at the end. */
export function sumSome(
  connection: Connection,
  { by, since = 0, until = Number.MAX_SAFE_INTEGER }: AuditSumQuery,
  seq: number,
): { readonly parts: readonly SumPart[]; readonly last?: number } {
  const [[last = null] = []] = connection.rows(
    `select max(seq) from (select seq from audit where seq > ? order by seq limit ${SUMMED_AT_ONCE})`,
    seq,
  );
  if (last === null) return { parts: [] };
  const columns = by.map((group) => GROUPS[group]);
  const sql = `select cast(kind as blob), count(*), total(outcome not in ('success', 'waiting')),
      total(outcome = 'waiting'), total(tokens_arguments),
      total(tokens_returned), total(tokens_withheld)${columns.map((column) => `, ${column}`).join('')}
    from audit where seq > ? and seq <= ? and time >= ? and time < ?
    group by kind${columns.map((column) => `, ${column}`).join('')}`;
  const parts = connection.rows(sql, seq, last, since, until).map((row): SumPart => {
    const [kind = null, records, failed, waiting, args, returned, withheld, ...values] = row;
    const groups = Object.fromEntries(
      by.map((group, at) => [group, readGroup(group, values[at])] as const).filter(([, value]) => value !== undefined),
    );
    const tokens = { arguments: Number(args), returned: Number(returned), withheld: Number(withheld) };
    return {
      kind: fromName(kind) ?? '',
      groups,
      records: Number(records),
      failed: Number(failed),
      waiting: Number(waiting),
      tokens,
    };
  });
  return { parts, last: Number(last) };
}

/** Deletes a portion of the records older than a time; answers how many, 0 when none is left. */
export function pruneSome(connection: Connection, before: number): number {
  return connection.run(PRUNE, before);
}
