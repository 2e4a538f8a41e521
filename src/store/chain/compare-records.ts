import type { AuditProblem } from '../../model/audit-chain.js';
import { digestOf, type Proof } from './block.js';

/** A record as it stands in a store. */
export interface StoredRow {
  readonly seq: number;
  /** Absent when it cannot be read. */
  readonly id?: string;
  readonly time?: number;
  /** Absent when it is not UTF-8. */
  readonly text?: string;
  /** Whether what stands beside the text, for queries and sums, says the same as the text. */
  readonly fits: boolean;
}

/** What a comparison found. */
export interface Compared {
  readonly problem?: AuditProblem;
  /** Whether the record of the problem does not stand among those of the block. */
  readonly isMissing?: boolean;
  /** The first record that no proof of the block speaks of. */
  readonly stranger?: StoredRow;
  /** Records in front of those of the block: their writer makes no blocks. */
  readonly unchained: readonly StoredRow[];
}

/** Compares the records of one block with its proofs; `isForgotten` says which of them may be missing. */
export function compareRecords(
  proofs: readonly Proof[],
  rows: readonly StoredRow[],
  isForgotten: (proof: Proof) => boolean,
): Compared {
  const there = new Set(rows.map(({ id }) => id));
  const proved = new Set(proofs.map(({ id }) => id));
  const isStranger = ({ id }: StoredRow): boolean => id === undefined || !proved.has(id);
  const stranger = rows.find(isStranger);
  // Where a record of the block is missing, the stranger may be that one under another id.
  const isComplete = proofs.every((proof) => there.has(proof.id) || isForgotten(proof));
  const first = rows.findIndex((row) => !isStranger(row));
  const unchained = isComplete ? rows.slice(0, first === -1 ? rows.length : first) : [];
  const problem = firstDifference(proofs, rows.slice(unchained.length), { there, proved, isForgotten });
  const isMissing = problem?.id !== undefined && !there.has(problem.id);
  return { unchained, ...(problem && { problem, isMissing }), ...(stranger && { stranger }) };
}

interface Known {
  readonly there: ReadonlySet<string | undefined>;
  readonly proved: ReadonlySet<string>;
  readonly isForgotten: (proof: Proof) => boolean;
}

function firstDifference(
  proofs: readonly Proof[],
  rows: readonly StoredRow[],
  { there, proved, isForgotten }: Known,
): AuditProblem | undefined {
  let at = 0;
  for (const proof of proofs) {
    const row = rows[at];
    if (row?.id === proof.id) {
      if (!isSame(row, proof)) return named(proof, 'changed', 'The record was changed after it was written.');
      at += 1;
      continue;
    }
    const isStrange = row !== undefined && (row.id === undefined || !proved.has(row.id));
    if (there.has(proof.id)) {
      if (row && isStrange) return strange(row);
      return named(proof, 'reordered', 'The record stands in another place than the one it was written to.');
    }
    if (isForgotten(proof)) continue;
    // Where a record is missing and an unknown one stands in its place, its id was changed.
    if (isStrange && rows.length === proofs.length) return named(proof, 'changed', 'The record has another id now.');
    return named(proof, 'removed', 'The record is missing.');
  }
  const extra = rows[at];
  return extra && strange(extra);
}

function isSame({ text, fits }: StoredRow, { digest }: Proof): boolean {
  return fits && text !== undefined && digestOf(text) === digest;
}

function named({ id, time }: Proof, damage: AuditProblem['damage'], detail: string): AuditProblem {
  return { damage, id, time, detail };
}

function strange({ id, time }: StoredRow): AuditProblem {
  return {
    damage: 'inserted',
    ...(id !== undefined && { id }),
    ...(time !== undefined && { time }),
    detail: 'The record stands within a block that does not know it: it was put in.',
  };
}
