import { isObject, type JsonObject } from '../../kernel/json.js';
import type { AuditFilter, AuditRecord } from '../../model/audit-record.js';
import type { AuditSumQuery, StatsGroup } from '../../model/stats.js';
import { PAGE, pageSize } from '../page-size.js';
import { dayName, type SumPart } from '../audit-sums.js';
import { fromName, fromText, toName, toText } from '../stored-text.js';

/** Records that one statement of pruning deletes, so that it never holds locks for long. */
export const PRUNED_AT_ONCE = 5000;

const COLUMNS =
  'id, time, kind, server, tool, outcome, body, principal, tokens_arguments, tokens_returned, tokens_withheld';

/** A statement and its values. */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/**
 * Adds records in their order, all or none; one whose id is there already is passed over, so that an append may be repeated. Replicas
 * append one after the other, so that who follows the log by its order misses none.
 */
export function appendStatement(schema: string, records: readonly AuditRecord[]): Statement {
  const seen = new Set<string>();
  const columns: unknown[][] = Array.from({ length: 11 }, () => []);
  for (const record of records) {
    const { id, time, kind, server, tool, outcome, principal, tokens } = record;
    const row = [toName(id), Math.trunc(time), toName(kind), nameOrNull(server), nameOrNull(tool), outcome];
    const text = toText(record);
    if (seen.has(id)) continue;
    seen.add(id);
    const counts = [tokens?.arguments, tokens?.returned, tokens?.withheld].map((count) =>
      count === undefined ? null : Math.trunc(count),
    );
    for (const [at, value] of [...row, text, toName(principal), ...counts].entries()) columns[at]!.push(value);
  }
  return {
    sql: `with turn as materialized (select pg_advisory_xact_lock(hashtextextended('toolscout audit ${schema}', 0)))
      insert into ${schema}.audit (${COLUMNS})
      select ${COLUMNS} from turn, unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
          $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[]) with ordinality
        as given (${COLUMNS}, place)
      order by place on conflict (id) do nothing`,
    values: columns,
  };
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
export function pageStatement(schema: string): string {
  return `select seq, body from ${schema}.audit where seq > $1 order by seq limit ${PAGE}`;
}

const GROUPS: Readonly<Record<StatsGroup, string>> = {
  day: 'time / 86400000',
  server: 'server',
  tool: 'tool',
  principal: 'principal',
};

/** Adds up records by kind and by what is asked for; {@link readSum} reads a row. */
export function sumStatement(schema: string, { by, since = 0, until }: AuditSumQuery): Statement {
  const columns = by.map((group) => `, ${GROUPS[group]}`).join('');
  const sum = (part: string): string => `coalesce(sum(tokens_${part}), 0)`;
  return {
    sql: `select kind, count(*), count(*) filter (where outcome <> 'success'), ${sum('arguments')},
        ${sum('returned')}, ${sum('withheld')}${columns}
      from ${schema}.audit where time >= $1 and ($2::bigint is null or time < $2)
      group by kind${columns}`,
    values: [Math.ceil(since), until === undefined ? null : Math.ceil(until)],
  };
}

/** One row of {@link sumStatement}. */
export function readSum(by: readonly StatsGroup[], row: readonly unknown[]): SumPart {
  const [kind, records, failed, args, returned, withheld, ...values] = row;
  const read = (group: StatsGroup, value: unknown): string | undefined => {
    if (value === null || value === undefined) return undefined;
    return group === 'day' ? dayName(Number(value)) : fromName(value);
  };
  const groups = by.map((group, at) => [group, read(group, values[at])] as const);
  return {
    kind: fromName(kind) ?? '',
    groups: Object.fromEntries(groups.filter(([, value]) => value !== undefined)),
    records: Number(records),
    failed: Number(failed),
    tokens: { arguments: Number(args), returned: Number(returned), withheld: Number(withheld) },
  };
}

/** Deletes a portion of the records older than a time. A second process that prunes at the same time skips what the first has taken. */
export function pruneStatement(schema: string, before: number): Statement {
  return {
    sql: `delete from ${schema}.audit where seq in (
      select seq from ${schema}.audit where time < $1 order by time limit ${PRUNED_AT_ONCE} for update skip locked)`,
    values: [Math.ceil(before)],
  };
}

/** A record as it was appended, or `undefined` when it cannot be read back. */
export function readRecord(body: unknown): AuditRecord | undefined {
  const value = fromText(body)?.value;
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is AuditRecord & JsonObject {
  if (!isObject(value)) return false;
  const { id, time, kind, principal, outcome } = value;
  return typeof time === 'number' && [id, kind, principal, outcome].every((text) => typeof text === 'string');
}

function nameOrNull(name: string | undefined): string | null {
  return name === undefined ? null : toName(name);
}
