import type { AuditRecord } from '../../model/audit-record.js';
import {
  type Block,
  blockHash,
  digestOf,
  genesisHash,
  isSpent,
  noteBody,
  noteOf,
  type Proof,
  proofsBody,
  type PruneNote,
} from '../chain/block.js';
import type { StoredRow } from '../chain/compare-records.js';
import type { ChainReader } from '../chain/verify.js';
import { fromBytes, fromName, fromText, toName } from '../stored-text.js';
import { isRecord } from '../stored-record.js';
import { insertRows, pruneSome, toRow } from './audit.js';
import type { Column, Connection } from './connection.js';

/** All processes that use a file append to one chain. */
const CHAIN = 'main';

const BLOCK =
  'cast(number as integer), cast(last_seq as integer), cast(previous as blob), cast(body as blob), cast(hash as blob)';
const HEAD = `select cast(number as integer), cast(last_seq as integer), cast(hash as blob), (select max(seq) from audit) from audit_head where chain = '${CHAIN}'`;
const LAST_BLOCK = `select ${BLOCK} from audit_blocks order by number desc limit 1`;
const PUT_HEAD = `insert into audit_head (chain, number, last_seq, hash) values ('${CHAIN}', ?, ?, ?)
  on conflict (chain) do update set number = excluded.number, last_seq = excluded.last_seq, hash = excluded.hash`;
const PUT_BLOCK = 'insert into audit_blocks (number, last_seq, previous, body, hash, note) values (?, ?, ?, ?, ?, ?)';
const NOTE = `select ${BLOCK} from audit_blocks where note = 1 order by number desc limit 1`;
const ADDED = 'select cast(seq as integer) from audit where seq > ? order by seq';
/** Blocks that one step of retention looks at. */
const LEADING = `select ${BLOCK} from audit_blocks where last_seq < ? order by number limit 4000`;
const BLOCKS_AT_ONCE = 64;
const PAGE = `select ${BLOCK} from audit_blocks where number > ? order by number limit ${BLOCKS_AT_ONCE}`;
const ROW = `cast(seq as integer), cast(id as blob), time, cast(kind as blob), cast(server as blob), cast(tool as blob),
  cast(outcome as blob), cast(body as blob), cast(principal as blob), tokens_arguments, tokens_returned, tokens_withheld`;
const ROWS = `select ${ROW} from audit where seq > ? and seq <= ? order by seq`;
const BEHIND = 'from audit where seq > (select coalesce(max(last_seq), 0) from audit_blocks)';

/** A record as its row, with what the chain will say of it. */
export interface Chained {
  readonly row: readonly Column[];
  readonly proof: Proof;
}

/** Makes a record ready outside the transaction, since others wait for that. */
export function chained(record: AuditRecord): Chained {
  const row = toRow(record);
  return { row, proof: { id: record.id, time: record.time, digest: digestOf(String(row[BODY])) } };
}

/** The place of the text in a row. */
const BODY = 6;

interface Head {
  readonly number: number;
  readonly lastSeq: number;
  readonly hash: string;
  /** The place of the newest record, whether a block covers it or not. */
  readonly newest: number;
}

/** Appends records and their block. Runs in a transaction, so that the blocks of several processes follow each other. */
export function appendChained(connection: Connection, records: readonly Chained[]): void {
  const head = readHead(connection);
  const base = Math.max(head.newest, head.lastSeq);
  const rows = records.map(({ row }) => row);
  const added = insertRows(connection, rows, base);
  if (added === 0) return;
  const places =
    added === rows.length ? undefined : connection.rows(ADDED, base).map(([seq]) => Number(seq) - base - 1);
  const proofs = (places ?? rows.map((_row, at) => at)).map((at) => records[at]!.proof);
  addBlock(connection, head, { lastSeq: base + 1 + (places?.at(-1) ?? rows.length - 1), body: proofsBody(proofs) });
}

/** Deletes a portion of the records older than a time and says so in the chain; answers how many, 0 when none is left. */
export function pruneChained(connection: Connection, before: number): number {
  const count = pruneSome(connection, before);
  if (count === 0) return 0;
  const head = readHead(connection);
  const last = noteOf(connection.rows(NOTE).map(toBlock)[0]);
  const horizon = Math.max(before, last?.before ?? before);
  const oldest = connection.rows('select min(seq) from audit')[0]?.[0] ?? Number.MAX_SAFE_INTEGER;
  let gone: Block | undefined;
  for (const row of connection.rows(LEADING, oldest)) {
    const block = toBlock(row);
    if (!isSpent(block, horizon)) break;
    gone = block;
  }
  if (gone) connection.run('delete from audit_blocks where number <= ?', gone.number);
  const through: PruneNote['through'] = gone ? { [CHAIN]: [gone.number, gone.hash] } : (last?.through ?? {});
  const note = { before: horizon, removed: (last?.removed ?? 0) + count, through };
  addBlock(connection, head, { lastSeq: head.lastSeq, body: noteBody(note), isNote: true });
  return count;
}

/** Reads the chain for a verification. */
export function chainReader(read: <Result>(task: (connection: Connection) => Result) => Promise<Result>): ChainReader {
  return {
    heads: () =>
      read((connection) =>
        connection.rows(HEAD).map(([number, , hash]) => ({
          chain: CHAIN,
          number: Number(number),
          hash: String(fromBytes(hash)),
        })),
      ),
    note: () => read((connection) => connection.rows(NOTE).map(toBlock)[0]),
    async *pages() {
      for (let after = -1; ;) {
        const from = after;
        const page = await read((connection) => connection.rows(PAGE, from).map(toBlock));
        if (page.length === 0) return;
        after = page.at(-1)!.number;
        yield page;
      }
    },
    rows: (after, through) => read((connection) => connection.rows(ROWS, after, through).map(toStored)),
    unchained: (through) =>
      read((connection) => {
        const [row] = connection.rows('select count(*), max(cast(time as integer)) from audit where seq <= ?', through);
        const until = row?.[1] ?? undefined;
        return { records: Number(row?.[0]), ...(until !== undefined && { until: Number(until) }) };
      }),
    tail: () =>
      read((connection) => {
        const [first] = connection.rows(`select ${ROW} ${BEHIND} order by seq limit 1`).map(toStored);
        const [[count, until] = []] = first ? connection.rows(`select count(*), max(time) ${BEHIND}`) : [];
        return first && { first, records: Number(count), until: Number(until) };
      }),
    has: (id) => read((connection) => connection.rows('select 1 from audit where id = ?', toName(id)).length > 0),
  };
}

function readHead(connection: Connection): Head {
  const [row] = connection.rows(HEAD);
  if (row) {
    const [number, lastSeq, hash, newest] = row;
    return { number: Number(number), lastSeq: Number(lastSeq), hash: String(fromBytes(hash)), newest: Number(newest) };
  }
  // The note of its end is there since the chain began: something took it away, and perhaps the end with it. The chain continues after its
  // last block, or from the beginning, but leaves out one number, so that later blocks do not cover that up (A35).
  const last = connection.rows(LAST_BLOCK).map(toBlock)[0];
  const [found] = connection.rows('select count(*), coalesce(max(seq), 0) from audit');
  const lastSeq = Number(found?.[1]);
  if (last) return { ...last, number: last.number + 1, newest: lastSeq };
  const hash = genesisHash(Number(found?.[0]), lastSeq);
  connection.run(PUT_BLOCK, 0, lastSeq, '', '', hash, 0);
  return { number: 1, lastSeq, hash, newest: lastSeq };
}

function addBlock(
  connection: Connection,
  head: Head,
  { lastSeq, body, isNote = false }: { readonly lastSeq: number; readonly body: string; readonly isNote?: boolean },
): void {
  const number = head.number + 1;
  const hash = blockHash({ chain: CHAIN, number, previous: head.hash, joined: '', body });
  connection.run(PUT_BLOCK, number, lastSeq, head.hash, body, hash, isNote ? 1 : 0);
  connection.run(PUT_HEAD, number, lastSeq, hash);
}

function toBlock([number, lastSeq, previous, body, hash]: readonly Column[]): Block {
  const text = (column: Column | undefined): string => String(fromBytes(column));
  return {
    chain: CHAIN,
    number: Number(number),
    lastSeq: Number(lastSeq),
    previous: text(previous),
    joined: '',
    body: text(body),
    hash: text(hash),
  };
}

function toStored([seq, ...columns]: readonly Column[]): StoredRow {
  const id = fromName(columns[0]);
  const text = fromBytes(columns[BODY]);
  const value = text === undefined ? undefined : fromText(text)?.value;
  const expected = isRecord(value) ? toRow(value) : undefined;
  const fits = expected?.every((column, at) => at === BODY || same(column, columns[at])) ?? false;
  return {
    seq: Number(seq),
    ...(id !== undefined && { id }),
    ...(typeof columns[1] === 'number' && { time: columns[1] }),
    ...(text !== undefined && { text }),
    fits,
  };
}

function same(expected: Column, found: Column | undefined): boolean {
  return Buffer.isBuffer(found) ? fromBytes(found) === expected : (found ?? null) === expected;
}
