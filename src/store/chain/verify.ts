import type { AuditProblem, AuditVerification, ChainHead, UnchainedRecords } from '../../model/audit-chain.js';
import { compareRecords, type StoredRow } from './compare-records.js';
import { type Block, blockHash, isPruneNote, noteOf, type Proof, readBody, readGenesis } from './block.js';
import { createChainWalk } from './chain-walk.js';

/** What a verification reads; a store answers from one state of the log each time. */
export interface ChainReader {
  /** The last blocks as they are noted beside the chain. */
  heads(): Promise<readonly ChainHead[]>;
  /** The newest note of retention. */
  note(): Promise<Block | undefined>;
  /** Every block in the order of appending. */
  pages(): AsyncIterable<readonly Block[]>;
  /** The records after one place and up to another, in their order. */
  rows(after: number, through: number): Promise<readonly StoredRow[]>;
  /** The records up to a place that no block covers. */
  unchained(through: number): Promise<UnchainedRecords>;
  /** The first record behind all blocks, and how many there are. */
  tail(): Promise<(UnchainedRecords & { readonly first: StoredRow }) | undefined>;
  /** Whether there is a record of this id anywhere. */
  has(id: string): Promise<boolean>;
}

/** Attempts while retention runs beside a verification. */
const ATTEMPTS = 3;

/**
 * Compares the log with its chain, in order, up to the first difference (SEC-12). `known` are heads that were kept
 * elsewhere: only they show that the end of the log was cut off, or the whole log rewritten, with matching hashes.
 */
export async function verifyChain(reader: ChainReader, known: readonly ChainHead[] = []): Promise<AuditVerification> {
  for (let attempt = 1; ; attempt++) {
    const before = await reader.note();
    const found = await verifyOnce(reader, before, known);
    // Retention that runs meanwhile takes away records and blocks that were to be read next.
    if (found.ok || attempt >= ATTEMPTS || (await reader.note())?.hash === before?.hash) return found;
  }
}

async function verifyOnce(
  reader: ChainReader,
  noteBlock: Block | undefined,
  known: readonly ChainHead[],
): Promise<AuditVerification> {
  const heads = await reader.heads();
  const note = noteOf(noteBlock);
  const walk = createChainWalk(note?.through ?? {}, known);
  let unchained: UnchainedRecords = { records: 0 };
  /** The first record between the blocks. */
  let loose: StoredRow | undefined;
  let lastSeq = 0;
  let records = 0;
  let blocks = 0;

  const report = (problem?: AuditProblem): AuditVerification => ({
    ok: !problem,
    records,
    blocks,
    forgotten: note?.removed ?? 0,
    unchained,
    heads: walk.heads(),
    ...(problem && { problem }),
  });
  /** Records that retention may have taken: older than its note says, in a block before it. */
  const isForgotten = (block: Block, { time }: Proof): boolean =>
    note !== undefined && time < note.before && block.lastSeq <= noteBlock!.lastSeq;

  for await (const page of reader.pages()) {
    const rows = [...(await reader.rows(lastSeq, page.at(-1)!.lastSeq))];
    for (const block of page) {
      if (block.number === 0) {
        const genesis = readGenesis(block.hash);
        unchained = await reader.unchained(block.lastSeq);
        const problem = walk.begin(block) ?? excess(unchained.records, genesis?.records ?? 0);
        if (problem) return report(problem);
        lastSeq = block.lastSeq;
        while (rows.length > 0 && rows[0]!.seq <= lastSeq) rows.shift();
        continue;
      }
      const body = readBody(block.body);
      const proofs = body && !isPruneNote(body) ? body : [];
      const own = rows.splice(0, countUpTo(rows, block.lastSeq));
      const compared = compareRecords(proofs, own, (proof) => isForgotten(block, proof));
      const isWhole = body !== undefined && blockHash(block) === block.hash;
      const broken = walk.step(block, { first: proofs[0], rows: own, isWhole, compared });
      if (broken) return report(broken);
      if (compared.problem) return report(await settle(reader, block, compared.problem, compared.isMissing));
      if (block.lastSeq < lastSeq) return report(walk.outOfOrder(block, proofs[0]));
      lastSeq = block.lastSeq;
      records += own.length - compared.unchained.length;
      blocks += 1;
      loose ??= compared.unchained[0];
      unchained = plus(unchained, compared.unchained.length, newest(compared.unchained));
    }
  }
  const tail = await reader.tail();
  loose ??= tail?.first;
  if (tail) unchained = plus(unchained, tail.records, tail.until);
  return report(walk.end(heads) ?? (loose && uncovered(loose)));
}

function newest(rows: readonly StoredRow[]): number | undefined {
  return rows.reduce<number | undefined>((until, { time }) => latest(until, time), undefined);
}

function latest(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);
}

function plus(before: UnchainedRecords, count: number, newestOf: number | undefined): UnchainedRecords {
  if (count === 0) return before;
  const until = latest(before.until, newestOf);
  return { records: before.records + count, ...(until !== undefined && { until }) };
}

function countUpTo(rows: readonly StoredRow[], seq: number): number {
  const at = rows.findIndex((row) => row.seq > seq);
  return at === -1 ? rows.length : at;
}

/** A record that is missing from its block but stands elsewhere was moved. */
async function settle(
  reader: ChainReader,
  { chain, number }: Block,
  problem: AuditProblem,
  isMissing = false,
): Promise<AuditProblem> {
  const isMoved = isMissing && problem.id !== undefined && (await reader.has(problem.id));
  const moved = { damage: 'reordered', detail: 'The record stands in another place than the one it was written to.' };
  return { ...problem, ...(isMoved && (moved as Partial<AuditProblem>)), block: { chain, number } };
}

function excess(found: number, expected: number): AuditProblem | undefined {
  if (found <= expected) return undefined;
  const detail = `${found} records stand before the chain, and there were ${expected} when it began.`;
  return { damage: 'inserted', detail };
}

function uncovered({ id, time }: StoredRow): AuditProblem {
  const detail = 'No block covers the record: a version of toolscout that knows no chain wrote it, or it was put in.';
  return { damage: 'unchained', ...(id !== undefined && { id }), ...(time !== undefined && { time }), detail };
}
