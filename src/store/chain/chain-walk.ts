import type { AuditProblem, ChainHead } from '../../model/audit-chain.js';
import type { Block, Proof, PruneNote } from './block.js';
import { readGenesis } from './block.js';
import type { Compared, StoredRow } from './compare-records.js';

/** Number of blocks whose hash is kept for their successors; fewer replicas than this append at once. */
const REMEMBERED = 4096;

interface Seen {
  readonly number: number;
  readonly hash: string;
  /** The first record of the block, which names it to people. */
  readonly first?: Proof;
}

/** What is known of a block when the walk comes to it. */
export interface Look {
  readonly first: Proof | undefined;
  readonly rows: readonly StoredRow[];
  /** Whether its hash is that of its fields. */
  readonly isWhole: boolean;
  readonly compared: Compared;
}

/** A walk along all chains: that every block follows the one before it, and that none is missing. */
export interface ChainWalk {
  /** The block in front of the first one. */
  begin(block: Block): AuditProblem | undefined;
  step(block: Block, look: Look): AuditProblem | undefined;
  outOfOrder(block: Block, first: Proof | undefined): AuditProblem;
  /** What is missing at the end, given the heads that were noted before the walk. */
  end(heads: readonly ChainHead[]): AuditProblem | undefined;
  heads(): ChainHead[];
}

/** A walk that begins behind the blocks that retention took away. */
export function createChainWalk(through: PruneNote['through'], known: readonly ChainHead[]): ChainWalk {
  const last = new Map<string, Seen>();
  for (const [chain, [number, hash]] of Object.entries(through)) last.set(chain, { number, hash });
  const passed = new Set<string>();
  const hashes = new Map<string, string>();

  const note = (block: Block, first: Proof | undefined): void => {
    const { chain, number, hash } = block;
    last.set(chain, { number, hash, ...(first && { first }) });
    passed.add(chain);
    hashes.set(`${chain} ${number}`, hash);
    if (hashes.size > REMEMBERED) hashes.delete(hashes.keys().next().value!);
  };
  const matchesKnown = ({ chain, number, hash }: Block): boolean =>
    known.every((head) => head.chain !== chain || head.number !== number || head.hash === hash);

  /** A block names the newest block of all chains: it must be there, and be the same. */
  const joinProblem = (block: Block, first: Proof | undefined): AuditProblem | undefined => {
    if (block.joined === '') return undefined;
    const [chain = '', number = '', hash] = block.joined.split(' ');
    const target = last.get(chain);
    if (!target || target.number < Number(number)) {
      return at(block, 'removed', `Block ${number} of chain ${chain} is missing, and its records with it.`, undefined);
    }
    const remembered = hashes.get(`${chain} ${number}`);
    if (remembered === undefined || remembered === hash) return undefined;
    return at(block, 'changed', `Block ${number} of chain ${chain} was changed after it was written.`, first);
  };

  return {
    begin(block) {
      note(block, undefined);
      const genesis = readGenesis(block.hash);
      if (genesis && genesis.lastSeq === block.lastSeq) return undefined;
      return at(block, 'changed', 'The beginning of the chain was changed after it was written.', undefined);
    },
    step(block, { first, rows, isWhole, compared }) {
      const { chain, number } = block;
      const before = last.get(chain);
      const expected = before ? before.number + 1 : 1;
      if (number !== expected) {
        const lost = number === expected + 1 ? `Block ${expected} is` : `Blocks ${expected} to ${number - 1} are`;
        const stranger = compared.stranger ?? (first ? undefined : rows[0]);
        if (number < expected) return at(block, 'reordered', 'The block stands behind a later one.', first);
        return at(block, 'removed', `${lost} missing${stranger ? '' : ', and the records with it'}.`, stranger);
      }
      if (!before && block.previous !== '') {
        return at(block, 'removed', 'The beginning of the chain is missing.', undefined);
      }
      if (before && block.previous !== before.hash) {
        const detail = `Block ${before.number} was changed after it was written, with one of its records.`;
        return at({ chain, number: before.number }, 'changed', detail, before.first ?? first);
      }
      if (!isWhole || !matchesKnown(block)) {
        return at(block, 'changed', `Block ${number} was changed after it was written.`, compared.problem ?? first);
      }
      const problem = joinProblem(block, first);
      if (!problem) note(block, first);
      return problem;
    },
    outOfOrder: (block, first) => at(block, 'reordered', 'The block stands before an earlier one.', first),
    end(heads) {
      for (const { chain, number } of [...heads, ...known]) {
        const found = last.get(chain)?.number ?? 0;
        if (found >= number) continue;
        const detail = `The log ends at block ${found}, and block ${number} was written: the last records are missing.`;
        return at({ chain, number: found }, 'removed', detail, undefined);
      }
      const noted = new Set(heads.map(({ chain }) => chain));
      const unnoted = [...passed].find((chain) => !noted.has(chain));
      return unnoted === undefined
        ? undefined
        : at(
            { chain: unnoted, number: last.get(unnoted)!.number },
            'removed',
            'The note of where the chain ends is missing.',
            undefined,
          );
    },
    heads: () =>
      [...last]
        .map(([chain, { number, hash }]) => ({ chain, number, hash }))
        .toSorted((a, b) => (a.chain < b.chain ? -1 : 1)),
  };
}

function at(
  { chain, number }: Pick<Block, 'chain' | 'number'>,
  damage: AuditProblem['damage'],
  detail: string,
  record: Partial<Pick<Proof, 'id' | 'time'>> | undefined,
): AuditProblem {
  const { id, time } = record ?? {};
  const named = { ...(id !== undefined && { id }), ...(time !== undefined && { time }) };
  return { damage, ...named, block: { chain, number }, detail };
}
