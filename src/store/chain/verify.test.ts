import { describe, expect, it } from 'vitest';
import type { ChainHead } from '../../model/audit-chain.js';
import { type Block, blockHash, digestOf, genesisHash, noteBody, proofsBody, type PruneNote } from './block.js';
import type { StoredRow } from './compare-records.js';
import { type ChainReader, verifyChain } from './verify.js';

/** A log in memory: rows and blocks can be tampered with. */
interface Log {
  rows: StoredRow[];
  blocks: Block[];
  heads?: ChainHead[];
}

const rowOf = (seq: number, id = `r${seq}`, time = 1000 + seq): StoredRow => ({
  seq,
  id,
  time,
  text: `text ${id}`,
  fits: true,
});

function chainOf(bodies: ReadonlyArray<readonly StoredRow[] | PruneNote>, genesis = genesisHash(0, 0)): Block[] {
  const begin = Number(genesis.split(':')[2]);
  const blocks: Block[] = [
    { chain: 'c', number: 0, lastSeq: begin, previous: '', joined: '', body: '', hash: genesis },
  ];
  for (const each of bodies) {
    const { number, hash: previous, lastSeq } = blocks.at(-1)!;
    const isNote = 'before' in each;
    const body = isNote
      ? noteBody(each)
      : proofsBody(each.map(({ id, time, text }) => ({ id: id!, time: time!, digest: digestOf(text!) })));
    const fields = { chain: 'c', number: number + 1, previous, joined: '', body };
    const last = isNote ? lastSeq : (each.at(-1)?.seq ?? lastSeq);
    blocks.push({ ...fields, lastSeq: last, hash: blockHash(fields) });
  }
  return blocks;
}

function readerOf(log: Log, more: Partial<ChainReader> = {}): ChainReader {
  const behind = (): StoredRow[] => log.rows.filter(({ seq }) => seq > Math.max(...log.blocks.map((b) => b.lastSeq)));
  const until = (rows: StoredRow[]): number => Math.max(...rows.map(({ time }) => time ?? 0));
  return {
    heads: async () => {
      const { chain, number, hash } = log.blocks.at(-1)!;
      return log.heads ?? [{ chain, number, hash }];
    },
    note: async () => log.blocks.findLast(({ body }) => body.startsWith('{')),
    async *pages() {
      yield log.blocks.slice(0, 2);
      if (log.blocks.length > 2) yield log.blocks.slice(2);
    },
    rows: async (after, through) => log.rows.filter(({ seq }) => seq > after && seq <= through),
    unchained: async (through) => {
      const rows = log.rows.filter(({ seq }) => seq <= through);
      return { records: rows.length, ...(rows.length > 0 && { until: until(rows) }) };
    },
    tail: async () => {
      const [first, ...rest] = behind();
      return first && { first, records: 1 + rest.length, until: until([first, ...rest]) };
    },
    has: async (id) => log.rows.some((row) => row.id === id),
    ...more,
  };
}

const [A, B, C, D] = [rowOf(1), rowOf(2), rowOf(3), rowOf(4)] as const;
const logOf = (): Log => ({ rows: [A, B, C, D], blocks: chainOf([[A, B], [C], [D]]) });

describe('the verification of a log', () => {
  it('SEC-12 counts records and blocks of a log that is as it was written', async () => {
    const log = logOf();
    expect(await verifyChain(readerOf(log))).toEqual({
      ok: true,
      records: 4,
      blocks: 3,
      forgotten: 0,
      unchained: { records: 0 },
      heads: [{ chain: 'c', number: 3, hash: log.blocks.at(-1)!.hash }],
    });
  });

  it('SEC-12 A35 a record that stands elsewhere was moved; one that stands nowhere was removed', async () => {
    const moved = logOf();
    moved.rows = [A, C, { ...B, seq: 3 }, D];
    expect((await verifyChain(readerOf(moved))).problem).toMatchObject({
      damage: 'reordered',
      id: 'r2',
      block: { chain: 'c', number: 1 },
    });
    const removed = logOf();
    removed.rows = [A, C, D];
    expect((await verifyChain(readerOf(removed))).problem).toMatchObject({ damage: 'removed', id: 'r2' });
    const changed = logOf();
    changed.rows = [A, { ...B, text: 'other' }, C, D];
    expect((await verifyChain(readerOf(changed))).problem).toMatchObject({ damage: 'changed', id: 'r2' });
  });

  it('SEC-12 A35 a record that was put in is named as far as it can be read', async () => {
    const blocks = chainOf([[A, C]]);
    const problemWith = async (row: StoredRow): Promise<unknown> =>
      (await verifyChain(readerOf({ rows: [A, row, C], blocks }))).problem;
    const put = { damage: 'inserted', block: { chain: 'c', number: 1 }, detail: expect.stringContaining('put in') };
    expect(await problemWith({ seq: 2, id: 'new', time: 7, fits: true })).toEqual({ ...put, id: 'new', time: 7 });
    expect(await problemWith({ seq: 2, id: 'new', fits: true })).toEqual({ ...put, id: 'new' });
    expect(await problemWith({ seq: 2, time: 7, fits: false })).toEqual({ ...put, time: 7 });
  });

  it('SEC-12 A35 a record under another id is told from one that is missing beside others that were put in', async () => {
    const blocks = chainOf([[A, B, D]]);
    const strange = (seq: number): StoredRow => rowOf(seq, `new${seq}`);
    const problemOf = async (...rows: StoredRow[]): Promise<unknown> =>
      (await verifyChain(readerOf({ rows, blocks }))).problem;
    expect(await problemOf(A, strange(2), D)).toMatchObject({ damage: 'changed', id: 'r2' });
    expect(await problemOf(A, strange(2), strange(3), D)).toMatchObject({ damage: 'removed', id: 'r2' });
    expect(await problemOf(A, D)).toMatchObject({ damage: 'removed', id: 'r2' });
  });

  it('SEC-12 a record without a block stays one where retention took all that the block has', async () => {
    const note: PruneNote = { before: 2000, removed: 1, through: {} };
    const log = { rows: [rowOf(1, 'loose', 5000), D], blocks: chainOf([[B], note, [D]]) };
    expect(await verifyChain(readerOf(log))).toMatchObject({
      records: 1,
      unchained: { records: 1, until: 5000 },
      problem: { damage: 'unchained', id: 'loose' },
    });
  });

  it('SEC-12 A35 a block that ends before an earlier one is out of order', async () => {
    const empty = chainOf([[A, B], [], [C, D]]).map((block) => (block.number === 2 ? { ...block, lastSeq: 1 } : block));
    expect((await verifyChain(readerOf({ rows: [A, B, C, D], blocks: empty }))).problem).toMatchObject({
      damage: 'reordered',
      block: { number: 2 },
    });
  });

  it('SEC-12 records before the chain are counted, and none may be added to them', async () => {
    const blocks = chainOf([[C], [D]], genesisHash(2, 2));
    const log = { rows: [A, B, C, D], blocks };
    expect(await verifyChain(readerOf(log))).toMatchObject({
      ok: true,
      records: 2,
      blocks: 2,
      unchained: { records: 2, until: 1002 },
    });
    expect(await verifyChain(readerOf({ ...log, rows: [rowOf(0), ...log.rows] }))).toMatchObject({
      ok: false,
      problem: { damage: 'inserted', detail: '3 records stand before the chain, and there were 2 when it began.' },
    });
    // Retention may have taken some of them.
    expect(await verifyChain(readerOf({ ...log, rows: [B, C, D] }))).toMatchObject({ ok: true });
    const none = { rows: [rowOf(0), A], blocks: chainOf([[A]]) };
    expect((await verifyChain(readerOf(none))).problem).toMatchObject({ damage: 'inserted' });
  });

  it('SEC-12 records that no block covers are counted together, with the newest time, and the first is named', async () => {
    const loose = rowOf(2, 'loose', 5000);
    const late = rowOf(5, 'late', 2000);
    const log: Log = { rows: [A, loose, C, D, late, rowOf(6, 'later', 3000)], blocks: chainOf([[A], [C], [D]]) };
    expect(await verifyChain(readerOf(log))).toMatchObject({
      ok: false,
      records: 3,
      unchained: { records: 3, until: 5000 },
      problem: { damage: 'unchained', id: 'loose', time: 5000 },
    });
    log.rows = [A, C, D, late];
    expect(await verifyChain(readerOf(log))).toMatchObject({
      unchained: { records: 1, until: 2000 },
      problem: { damage: 'unchained', id: 'late' },
    });
    // An end that was cut off is worse than a record without a block.
    log.heads = [{ chain: 'c', number: 9, hash: 'x' }];
    expect((await verifyChain(readerOf(log))).problem).toMatchObject({ damage: 'removed' });
  });

  it('SEC-12 what retention took is no damage; what is younger than its note, or stands behind it, is', async () => {
    const note: PruneNote = { before: 1002, removed: 1, through: {} };
    const blocks = chainOf([[A, B], note, [C]]);
    expect(await verifyChain(readerOf({ rows: [B, C], blocks }))).toMatchObject({ ok: true, forgotten: 1, records: 2 });
    expect((await verifyChain(readerOf({ rows: [C], blocks }))).problem).toMatchObject({ damage: 'removed', id: 'r2' });
    const old = rowOf(3, 'old', 1);
    const behind = chainOf([[A, B], note, [old]]);
    expect((await verifyChain(readerOf({ rows: [B], blocks: behind }))).problem).toMatchObject({ id: 'old' });
  });

  it('SEC-12 a difference is looked at again while retention runs, three times at the most', async () => {
    const notes = (count: number): ChainReader['note'] => {
      let asked = 0;
      // Retention writes a note between the beginning and the end of the first verifications.
      return async () => ({ ...logOf().blocks[1]!, body: '', hash: `n${Math.min(count, Math.ceil(asked++ / 2))}` });
    };
    const read = (breaks: number, changes: number): { reader: ChainReader; attempts: () => number } => {
      const log = logOf();
      let attempts = 0;
      const rows: ChainReader['rows'] = async (after, through) => {
        if (after === 0) attempts += 1;
        const all = log.rows.filter(({ seq }) => seq > after && seq <= through);
        return attempts <= breaks ? all.slice(1) : all;
      };
      return { reader: readerOf(log, { rows, note: notes(changes) }), attempts: () => attempts };
    };
    const once = read(1, 9);
    expect([(await verifyChain(once.reader)).ok, once.attempts()]).toEqual([true, 2]);
    const lasting = read(9, 9);
    expect([(await verifyChain(lasting.reader)).ok, lasting.attempts()]).toEqual([false, 3]);
    const calm = read(9, 0);
    expect([(await verifyChain(calm.reader)).ok, calm.attempts()]).toEqual([false, 1]);
  });
});
