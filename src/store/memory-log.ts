import type { AuditVerification, ChainHead } from '../model/audit-chain.js';
import type { AuditRecord } from '../model/audit-record.js';
import {
  type Block,
  blockHash,
  digestOf,
  genesisHash,
  noteBody,
  type Proof,
  proofsBody,
  type PruneNote,
} from './chain/block.js';
import type { StoredRow } from './chain/compare-records.js';
import { verifyChain } from './chain/verify.js';
import { toText } from './stored-text.js';

/** What is kept of the audit log when there is no disk; older records fall off. */
const KEPT = 10_000;
const CHAIN = 'main';
const GENESIS: Block = {
  chain: CHAIN,
  number: 0,
  lastSeq: 0,
  previous: '',
  joined: '',
  body: '',
  hash: genesisHash(0, 0),
};

/** A record and its text. */
export interface Logged {
  readonly seq: number;
  readonly json: string;
  /** Read from `json`, for the filters; never handed out. */
  readonly record: AuditRecord;
}

/** The audit log of a process without a disk. It has a hash chain like every other, so that all stores answer alike. */
export interface MemoryLog {
  readonly all: readonly Logged[];
  append(records: readonly AuditRecord[]): void;
  prune(before: number): number;
  verify(known?: readonly ChainHead[]): Promise<AuditVerification>;
  clear(): void;
}

/** An empty log. */
export function createMemoryLog(): MemoryLog {
  let all: Logged[] = [];
  const ids = new Set<string>();
  const blocks: Block[] = [GENESIS];
  let head: Block = GENESIS;
  let seq = 0;
  let removed = 0;
  let through: PruneNote['through'] = {};
  let note: Block | undefined;

  const addBlock = (body: string): void => {
    const fields = { chain: CHAIN, number: head.number + 1, previous: head.hash, joined: '', body };
    head = { ...fields, lastSeq: seq, hash: blockHash(fields) };
    blocks.push(head);
  };
  /** Says in the chain what was taken away; blocks that prove nothing any more go too. */
  const noteForgotten = (gone: readonly Logged[], before: number): void => {
    removed += gone.length;
    for (const { record } of gone) ids.delete(record.id);
    const oldest = all[0]?.seq ?? Infinity;
    const kept = blocks.findIndex((block) => block.lastSeq >= oldest);
    const taken = blocks.splice(0, kept === -1 ? blocks.length : kept).at(-1);
    if (taken) through = { [CHAIN]: [taken.number, taken.hash] };
    addBlock(noteBody({ before, removed, through }));
    note = head;
  };
  const toRow = ({ seq: place, json, record }: Logged): StoredRow => ({
    seq: place,
    id: record.id,
    time: record.time,
    text: json,
    fits: true,
  });

  return {
    get all() {
      return all;
    },
    append(records) {
      const texts = records.map((record) => toText(record));
      const proofs: Proof[] = [];
      for (const json of texts) {
        const record = JSON.parse(json) as AuditRecord;
        const { id, time } = record;
        if (ids.has(id)) continue;
        ids.add(id);
        seq += 1;
        all.push({ seq, json, record });
        proofs.push({ id, time, digest: digestOf(json) });
      }
      if (proofs.length === 0) return;
      addBlock(proofsBody(proofs));
      // Whatever their times: what falls off is the oldest by place.
      if (all.length > KEPT) noteForgotten(all.splice(0, all.length - KEPT), Number.MAX_SAFE_INTEGER);
    },
    prune(before) {
      const gone = all.filter(({ record }) => record.time < before);
      all = all.filter(({ record }) => record.time >= before);
      if (gone.length > 0) noteForgotten(gone, before);
      return gone.length;
    },
    verify: (known) =>
      verifyChain(
        {
          heads: async () => [head],
          note: async () => note,
          async *pages() {
            if (blocks.length > 0) yield blocks;
          },
          rows: async (after, through) => all.filter((row) => row.seq > after && row.seq <= through).map(toRow),
          unchained: async () => ({ records: 0 }),
          tail: async () => undefined,
          has: async (id) => ids.has(id),
        },
        known,
      ),
    clear() {
      all = [];
    },
  };
}
