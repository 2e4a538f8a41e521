/**
 * How the audit log shows tampering (SEC-12). Every append makes one block: the ids, times and digests of its records, and a hash
 * over them and over the block before it.
 */

/** The last block of a chain; kept elsewhere, it proves later that nothing up to it was changed. */
export interface ChainHead {
  readonly chain: string;
  /** Counts the blocks of the chain from 1. */
  readonly number: number;
  readonly hash: string;
}

/**
 * What happened to a record, or to the blocks that prove it. `unchained` is said only where nothing else is wrong: no block covers
 * the record. A version of toolscout without the chain may have written it, or a person may have inserted it.
 */
export const AUDIT_DAMAGES = ['changed', 'removed', 'inserted', 'reordered', 'unchained'] as const;

/** One of {@link AUDIT_DAMAGES}. */
export type AuditDamage = (typeof AUDIT_DAMAGES)[number];

/** The first change that was made to the log after it was written. */
export interface AuditProblem {
  readonly damage: AuditDamage;
  /** The record; absent when only a block can be named. */
  readonly id?: string;
  /** Wall-clock time of the record, as it was written. */
  readonly time?: number;
  /** The block that shows it; absent for what no block covers. */
  readonly block?: Pick<ChainHead, 'chain' | 'number'>;
  /** One sentence for people. */
  readonly detail: string;
}

/** Records that the hash chain does not protect, from before the log was chained or between its blocks. */
export interface UnchainedRecords {
  readonly records: number;
  /** Wall-clock time of the newest. */
  readonly until?: number;
}

/** What a verification of the audit log found. */
export interface AuditVerification {
  readonly ok: boolean;
  /** Records that are there and proved by a block. */
  readonly records: number;
  readonly blocks: number;
  /** Records that retention has removed, as the chain says. */
  readonly forgotten: number;
  readonly unchained: UnchainedRecords;
  /** The last block of every chain, sorted by chain. */
  readonly heads: readonly ChainHead[];
  readonly problem?: AuditProblem;
}

/** A head as one word: `chain:number:hash`. */
export const HEAD_PATTERN = /^([\w-]{1,64}):(\d{1,15}):([0-9a-f]{64})$/;

/** A head as one word, to be kept elsewhere. */
export function writeHead({ chain, number, hash }: ChainHead): string {
  return `${chain}:${number}:${hash}`;
}

/** Reads {@link writeHead}; `undefined` for anything else. */
export function readHead(text: string): ChainHead | undefined {
  const [, chain, number, hash] = HEAD_PATTERN.exec(text) ?? [];
  return chain !== undefined && number !== undefined && hash !== undefined
    ? { chain, number: Number(number), hash }
    : undefined;
}
