import { sha256 } from '../../kernel/hash.js';
import { isObject, type JsonValue } from '../../kernel/json.js';
import { fromText } from '../stored-text.js';

/** What a block says of one record. */
export interface Proof {
  readonly id: string;
  readonly time: number;
  readonly digest: string;
}

/** What retention says in the chain: which records may be missing, and which blocks it took away. */
export interface PruneNote {
  /** Records older than this may be missing from blocks before the note. */
  readonly before: number;
  /** Records that retention has removed since the chain began. */
  readonly removed: number;
  /** The last block of each chain that was taken away: its number and its hash. */
  readonly through: Readonly<Record<string, readonly [number, string]>>;
}

/** One block as it is stored. */
export interface Block {
  readonly chain: string;
  readonly number: number;
  /** The place of its last record in the log; of a note, that of the block before it. */
  readonly lastSeq: number;
  /** The hash of the block before it in its chain. */
  readonly previous: string;
  /** The newest block of all chains when it was made: `chain number hash`; empty where there is one chain only. */
  readonly joined: string;
  /** Its proofs or its note. */
  readonly body: string;
  readonly hash: string;
}

/** 128 bits are enough against a second text with the same digest. */
const DIGEST = 32;

/** The digest of a record's text. */
export function digestOf(text: string): string {
  return sha256(text).slice(0, DIGEST);
}

/** The body of a block of records. Proofs are in one flat list, since that is shorter and quicker to write. */
export function proofsBody(proofs: readonly Proof[]): string {
  const flat: Array<string | number> = [];
  for (const { id, time, digest } of proofs) flat.push(id, time, digest);
  return JSON.stringify(flat);
}

/** The body of a block that retention makes. */
export function noteBody(note: PruneNote): string {
  return JSON.stringify(note);
}

/** Reads a body; `undefined` when it is neither proofs nor a note. */
export function readBody(text: string): readonly Proof[] | PruneNote | undefined {
  const value = fromText(text)?.value;
  if (Array.isArray(value)) return readProofs(value);
  return isNote(value) ? value : undefined;
}

/** Distinguishes a retention note from proofs. */
export function isPruneNote(body: readonly Proof[] | PruneNote): body is PruneNote {
  return !Array.isArray(body);
}

/** The note that a block holds, if it holds one. */
export function noteOf(block: Block | undefined): PruneNote | undefined {
  const body = block && readBody(block.body);
  return body && isPruneNote(body) ? body : undefined;
}

/** Whether retention up to `horizon` may take a block away: it speaks of no record that must be there. */
export function isSpent({ number, body }: Block, horizon: number): boolean {
  if (number === 0) return true;
  const read = readBody(body);
  return read !== undefined && (isPruneNote(read) || read.every(({ time }) => time < horizon));
}

/** The hash of a block; the fields cannot run into each other, since none of them holds a line break. */
export function blockHash({ chain, number, previous, joined, body }: Omit<Block, 'hash' | 'lastSeq'>): string {
  return sha256(`${chain}\n${number}\n${previous}\n${joined}\n${body}`);
}

/** The hash in front of the first block: it says how many records nothing proves, and where they end. */
export function genesisHash(records: number, lastSeq: number): string {
  return `unchained:${records}:${lastSeq}`;
}

/** Reads {@link genesisHash}. */
export function readGenesis(hash: string): { readonly records: number; readonly lastSeq: number } | undefined {
  const found = /^unchained:(\d{1,15}):(\d{1,15})$/.exec(hash);
  return found ? { records: Number(found[1]), lastSeq: Number(found[2]) } : undefined;
}

function readProofs(flat: readonly JsonValue[]): readonly Proof[] | undefined {
  const proofs: Proof[] = [];
  for (let at = 0; at < flat.length; at += 3) {
    const [id, time, digest] = flat.slice(at, at + 3);
    if (typeof id !== 'string' || typeof time !== 'number' || typeof digest !== 'string') return undefined;
    proofs.push({ id, time, digest });
  }
  return proofs;
}

function isNote(value: JsonValue | undefined): value is JsonValue & PruneNote {
  if (!isObject(value)) return false;
  const { before, removed, through } = value;
  return typeof before === 'number' && typeof removed === 'number' && isObject(through);
}
