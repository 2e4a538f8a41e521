import type { AuditRecord } from '../../model/audit-record.js';
import {
  type Block,
  blockHash,
  digestOf,
  isSpent,
  noteBody,
  noteOf,
  type Proof,
  proofsBody,
  type PruneNote,
} from '../chain/block.js';
import type { StoredRow } from '../chain/compare-records.js';
import type { ChainReader } from '../chain/verify.js';
import { fromName, fromText, toName } from '../stored-text.js';
import { isRecord } from '../stored-record.js';
import { AUDIT_COLUMNS, pruneStatement, toColumns } from './audit.js';
import type { Query, Session } from './session.js';

/** A record as its columns, with what the chain will say of it. */
export interface ReadyRecord {
  readonly columns: readonly unknown[];
  readonly proof: Proof;
}

/** The place of the text among the columns. */
const BODY = 6;
/** Chains without blocks that a note still names: a block may join the last one of a chain that has just gone. */
const GONE_CHAINS = 64;
const BLOCKS_AT_ONCE = 64;
/** Attempts while ids turn out to be there already. */
const ATTEMPTS = 4;

/** A line for a value that is absent. No name, text or number is the same: JSON escapes control characters. */
const ABSENT = '\u0001';

/**
 * The values of one column as one text with a line for each: a third of what the escaped values of an array cost. No value has
 * a line break. The last line stands for a record that is not there, so that the text is never empty.
 */
function linesOf(values: readonly unknown[]): string {
  let text = '';
  for (const value of values) text += `${value === null ? ABSENT : String(value)}\n`;
  return text + ABSENT;
}

/** The array that a parameter made by {@link linesOf} stands for. */
function listed(parameter: number): string {
  return `string_to_array($${parameter}::text, E'\\n', E'\\x01')`;
}

/** Makes records ready, each id once. Throws what cannot be stored before anything is written. */
export function readyRecords(records: readonly AuditRecord[]): ReadyRecord[] {
  const ready = new Map<string, ReadyRecord>();
  for (const record of records) {
    const columns = toColumns(record);
    const { id, time } = record;
    if (!ready.has(id)) ready.set(id, { columns, proof: { id, time, digest: digestOf(String(columns[BODY])) } });
  }
  return [...ready.values()];
}

/** The audit log with the chain of one replica (SEC-12). Calls of one replica come one after the other. */
export interface AuditChain {
  /** Appends records and their block, all or nothing; what is there already is passed over, so that an append may be repeated. */
  append(records: readonly ReadyRecord[]): Promise<void>;
  /** Deletes a portion of the records older than a time and says so in the chain; answers how many. */
  prune(before: number): Promise<number>;
  readonly reader: ChainReader;
}

/** The chain that a replica calls `own`, beside those of others in one schema. */
export function createAuditChain(session: Session, schema: string, own: string): AuditChain {
  const lock = `select pg_advisory_xact_lock(hashtextextended('toolscout audit ${schema}', 0))`;
  const blocks = `${schema}.audit_blocks`;
  const heads = `${schema}.audit_heads`;
  const putHead = `insert into ${heads} (chain, number, hash)`;
  const onHead = 'on conflict (chain) do update set number = excluded.number, hash = excluded.hash';
  // One statement, so that an append costs one round trip. Replicas append one after the other, so that who follows the log by its
  // order misses none. What the statement reads may be older than the lock it waits for: only this replica writes its own chain, and
  // of the others any earlier block will do.
  const append = `with turn as materialized (${lock}),
      known as (select id from ${schema}.audit where id = any(${listed(1)})),
      last as (select coalesce((select number from ${heads} where chain = $12::text), 0) + 1 as number,
        coalesce((select hash from ${heads} where chain = $12::text), '') as previous,
        coalesce((select chain || ' ' || number || ' ' || hash from ${blocks} order by place desc limit 1), '') as joined),
      added as (insert into ${schema}.audit (${AUDIT_COLUMNS})
        select ${AUDIT_COLUMNS} from turn, unnest(${listed(1)}, ${listed(2)}::bigint[], ${listed(3)}, ${listed(4)}, ${listed(5)},
            ${listed(6)}, ${listed(7)}, ${listed(8)}, ${listed(9)}::bigint[], ${listed(10)}::bigint[], ${listed(11)}::bigint[])
          with ordinality as given (${AUDIT_COLUMNS}, place)
        where id is not null and not exists (select 1 from known) order by place returning seq),
      block as (insert into ${blocks} (chain, number, last_seq, previous, joined, body, hash)
        select $12::text, number, (select max(seq) from added), previous, joined, $13::text, encode(sha256(convert_to(
          $12::text || E'\\n' || number || E'\\n' || previous || E'\\n' || joined || E'\\n' || $13::text, 'UTF8')), 'hex')
        from last where exists (select 1 from added) returning number, hash),
      head as (${putHead} select $12::text, number, hash from block ${onHead})
    select id from known`;

  const block = 'place, chain, number, last_seq, previous, joined, body, hash';
  const row = `seq, ${AUDIT_COLUMNS}`;
  const read = async (sql: string, values: readonly unknown[] = []): Promise<unknown[][]> =>
    (await session.run('read', sql, values)).rows;
  const newestNote = `select ${block} from ${blocks} where note order by place desc limit 1`;

  /** Takes away blocks that prove nothing any more; answers the last of each chain. */
  const dropBlocks = async (query: Query, horizon: number): Promise<Map<string, Block>> => {
    const [[oldest]] = (await query(`select min(seq) from ${schema}.audit`)) as [[unknown]];
    const leading = await query(
      `select ${block} from ${blocks} where $1::bigint is null or last_seq < $1 order by place limit 4000`,
      [oldest],
    );
    const gone = new Map<string, Block>();
    let place: unknown;
    for (const found of leading) {
      const one = toBlock(found);
      if (!isSpent(one, horizon)) break;
      // Set anew, so that the newest chain stands last.
      gone.delete(one.chain);
      gone.set(one.chain, one);
      place = found[0];
    }
    if (place !== undefined) await query(`delete from ${blocks} where place <= $1`, [place]);
    return gone;
  };
  /** The last block that is gone of each chain that others may still refer to. */
  const throughOf = async (
    query: Query,
    before: PruneNote['through'],
    gone: ReadonlyMap<string, Block>,
  ): Promise<PruneNote['through']> => {
    const all = new Map(Object.entries(before));
    for (const [chain, { number, hash }] of gone) {
      all.delete(chain);
      all.set(chain, [number, hash]);
    }
    const found = await query(
      `select chain from ${heads} h where exists (select 1 from ${blocks} b where b.chain = h.chain)`,
    );
    const live = new Set([...found.map(([chain]) => String(chain)), own]);
    const recent = new Set([...all.keys()].filter((chain) => !live.has(chain)).slice(-GONE_CHAINS));
    const kept = [...all].filter(([chain]) => live.has(chain) || recent.has(chain));
    await query(`delete from ${heads} where not chain = any($1::text[])`, [[...live, ...recent]]);
    return Object.fromEntries(kept);
  };
  const addNote = async (query: Query, before: number, count: number): Promise<void> => {
    const last = noteOf((await query(newestNote)).map(toBlock)[0]);
    const horizon = Math.max(before, last?.before ?? before);
    const [[lastSeq]] = (await query(`select coalesce(max(last_seq), 0) from ${blocks}`)) as [[unknown]];
    const [[joined = ''] = []] = await query(
      `select chain || ' ' || number || ' ' || hash from ${blocks} order by place desc limit 1`,
    );
    const gone = await dropBlocks(query, horizon);
    const through = await throughOf(query, last?.through ?? {}, gone);
    const [[number = 0, previous = ''] = []] = await query(`select number, hash from ${heads} where chain = $1`, [own]);
    const body = noteBody({ before: horizon, removed: (last?.removed ?? 0) + count, through });
    const fields = {
      chain: own,
      number: Number(number) + 1,
      previous: String(previous),
      joined: String(joined),
      body,
    };
    const hash = blockHash(fields);
    await query(
      `insert into ${blocks} (chain, number, last_seq, previous, joined, body, hash, note)
       values ($1, $2, $3, $4, $5, $6, $7, true)`,
      [own, fields.number, lastSeq, fields.previous, fields.joined, body, hash],
    );
    await query(`${putHead} values ($1, $2, $3) ${onHead}`, [own, fields.number, hash]);
  };

  return {
    async append(records) {
      let rest = records;
      for (let attempt = 1; rest.length > 0; attempt++) {
        const columns = Array.from({ length: 11 }, (_, at) => linesOf(rest.map((record) => record.columns[at])));
        const values = [...columns, own, proofsBody(rest.map(({ proof }) => proof))];
        try {
          const { rows } = await session.run('write to', append, values);
          if (rows.length === 0) return;
          const known = new Set(rows.map(([id]) => id));
          rest = rest.filter((record) => !known.has(record.columns[0]));
        } catch (thrown) {
          // An append whose answer was lost has come through meanwhile: the next attempt sees it.
          if (!isDuplicate(thrown) || attempt >= ATTEMPTS) throw thrown;
        }
      }
    },
    prune: (before) =>
      session.transaction('write to', async (query) => {
        await query(lock);
        const statement = pruneStatement(schema, before);
        const [[count]] = (await query(statement.sql, statement.values)) as [[unknown]];
        if (Number(count) > 0) await addNote(query, Math.ceil(before), Number(count));
        return Number(count);
      }),
    reader: {
      heads: async () =>
        (await read(`select chain, number, hash from ${heads}`)).map(([chain, number, hash]) => ({
          chain: String(chain),
          number: Number(number),
          hash: String(hash),
        })),
      note: async () => (await read(newestNote)).map(toBlock)[0],
      async *pages() {
        for (let after: unknown = 0; ;) {
          const rows = await read(
            `select ${block} from ${blocks} where place > $1 order by place limit ${BLOCKS_AT_ONCE}`,
            [after],
          );
          if (rows.length === 0) return;
          after = rows.at(-1)![0];
          yield rows.map(toBlock);
        }
      },
      rows: async (after, through) =>
        (
          await read(`select ${row} from ${schema}.audit where seq > $1 and seq <= $2 order by seq`, [after, through])
        ).map(toStored),
      async unchained(through) {
        const [found] = await read(`select count(*), max(time) from ${schema}.audit where seq <= $1`, [through]);
        const until = found?.[1] ?? undefined;
        return { records: Number(found?.[0]), ...(until !== undefined && { until: Number(until) }) };
      },
      async tail() {
        const behind = `from ${schema}.audit where seq > (select coalesce(max(last_seq), 0) from ${blocks})`;
        const [first] = (await read(`select ${row} ${behind} order by seq limit 1`)).map(toStored);
        const [[count, until] = []] = first ? await read(`select count(*), max(time) ${behind}`) : [];
        return first && { first, records: Number(count), until: Number(until) };
      },
      has: async (id) => (await read(`select 1 from ${schema}.audit where id = $1`, [toName(id)])).length > 0,
    },
  };
}

function isDuplicate(thrown: unknown): boolean {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof Error && 'code' in cause && cause.code === '23505';
}

function toBlock([, chain, number, lastSeq, previous, joined, body, hash]: readonly unknown[]): Block {
  return {
    chain: String(chain),
    number: Number(number),
    lastSeq: Number(lastSeq),
    previous: String(previous),
    joined: String(joined),
    body: String(body),
    hash: String(hash),
  };
}

function toStored([seq, ...columns]: readonly unknown[]): StoredRow {
  const id = fromName(columns[0]);
  const text = String(columns[BODY]);
  const value = fromText(text)?.value;
  const expected = isRecord(value) ? toColumns(value) : undefined;
  const same = (column: unknown, at: number): boolean =>
    at === BODY || String(column ?? null) === String(columns[at] ?? null);
  return {
    seq: Number(seq),
    ...(id !== undefined && { id }),
    time: Number(columns[1]),
    text,
    fits: expected?.every(same) ?? false,
  };
}
