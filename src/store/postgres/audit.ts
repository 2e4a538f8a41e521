import type { AuditFilter, AuditRecord } from '../../model/audit-record.js';
import type { AuditSumQuery, StatsGroup } from '../../model/stats.js';
import { PAGE, pageSize } from '../page-size.js';
import { dayName, hourName, type SumPart } from '../audit-sums.js';
import { isRecord } from '../stored-record.js';
import { fromName, fromText, toName, toText } from '../stored-text.js';

/** Records that one statement of pruning deletes, so that it never holds locks for long. */
export const PRUNED_AT_ONCE = 5000;

/** The columns of a record. */
export const AUDIT_COLUMNS =
  'id, time, kind, server, tool, outcome, body, principal, tokens_arguments, tokens_returned, tokens_withheld';

/** A statement and its values. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The columns of records, in the order of {@link AUDIT_COLUMNS}. */
export function toColumns(record: AuditRecord): unknown[] {
  const { id, time, kind, server, tool, outcome, principal, tokens } = record;
  const count = (tokensOf: number | undefined): number | null => (tokensOf === undefined ? null : Math.trunc(tokensOf));
  return [
    toName(id),
    Math.trunc(time),
    toName(kind),
    nameOrNull(server),
    nameOrNull(tool),
    outcome,
    toText(record),
    toName(principal),
    count(tokens?.arguments),
    count(tokens?.returned),
    count(tokens?.withheld),
  ];
}

/** Selects the newest matching records in the order of appending, newest first. */
export function selectStatement(schema: string, filter: AuditFilter): Statement {
  const conditions: string[] = [];
  const values: unknown[] = [pageSize(filter.limit)];
  const where = (column: string, value: unknown): void => {
    if (value === null) return;
    values.push(value);
    conditions.push(`${column} $${values.length}`);
  };
  where('server =', nameOrNull(filter.server));
  where('tool =', nameOrNull(filter.tool));
  where('kind =', nameOrNull(filter.kind));
  where('outcome =', filter.outcome ?? null);
  where('time >=', filter.since === undefined ? null : Math.ceil(filter.since));
  const all = conditions.length > 0 ? ` where ${conditions.join(' and ')}` : '';
  return { sql: `select seq, body from ${schema}.audit${all} order by seq desc limit $1`, values };
}

/** Selects the records after a place in the log, oldest first. */
export function pageStatement(schema: string, limit = PAGE): string {
  return `select seq, body from ${schema}.audit where seq > $1 order by seq limit ${limit}`;
}

const GROUPS: Readonly<Record<StatsGroup, string>> = {
  day: 'time / 86400000',
  hour: 'time / 3600000',
  server: 'server',
  tool: 'tool',
  principal: 'principal',
  // It is asked for seldom, and has no column. Only fields with plain values stand before it, so that none of the arguments is taken for it.
  host: String.raw`substring(body from '^\{(?:"[A-Za-z]+":(?:"(?:[^"\\]|\\.)*"|[-+.0-9A-Za-z]+),)*"host":"((?:[^"\\]|\\.)*)"')`,
};

/** Adds up records by kind and by what is asked for; {@link readSum} reads a row. */
export function sumStatement(schema: string, { by, since = 0, until }: AuditSumQuery): Statement {
  const columns = by.map((group) => `, ${GROUPS[group]}`).join('');
  const sum = (part: string): string => `coalesce(sum(tokens_${part}), 0)`;
  return {
    sql: `select kind, count(*), count(*) filter (where outcome not in ('success', 'waiting')),
        count(*) filter (where outcome = 'waiting'), ${sum('arguments')},
        ${sum('returned')}, ${sum('withheld')}${columns}
      from ${schema}.audit where time >= $1 and ($2::bigint is null or time < $2)
      group by kind${columns}`,
    values: [Math.ceil(since), until === undefined ? null : Math.ceil(until)],
  };
}

/** One row of {@link sumStatement}. */
export function readSum(by: readonly StatsGroup[], row: readonly unknown[]): SumPart {
  const [kind, records, failed, waiting, args, returned, withheld, ...values] = row;
  const read = (group: StatsGroup, value: unknown): string | undefined => {
    if (value === null || value === undefined) return undefined;
    if (group === 'day') return dayName(Number(value));
    return group === 'hour' ? hourName(Number(value)) : fromName(value);
  };
  const groups = by.map((group, at) => [group, read(group, values[at])] as const);
  return {
    kind: fromName(kind) ?? '',
    groups: Object.fromEntries(groups.filter(([, value]) => value !== undefined)),
    records: Number(records),
    failed: Number(failed),
    waiting: Number(waiting),
    tokens: { arguments: Number(args), returned: Number(returned), withheld: Number(withheld) },
  };
}

/** Deletes a portion of the records older than a time; the row of the answer is how many. */
export function pruneStatement(schema: string, before: number): Statement {
  return {
    sql: `with gone as (delete from ${schema}.audit where seq in (
      select seq from ${schema}.audit where time < $1 order by time limit ${PRUNED_AT_ONCE}) returning 1) select count(*) from gone`,
    values: [Math.ceil(before)],
  };
}

/** A record as it was appended, or `undefined` when it cannot be read back. */
export function readRecord(body: unknown): AuditRecord | undefined {
  const value = fromText(body)?.value;
  return isRecord(value) ? value : undefined;
}

function nameOrNull(name: string | undefined): string | null {
  return name === undefined ? null : toName(name);
}
