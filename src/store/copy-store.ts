import { createHash } from 'node:crypto';
import { ToolscoutError } from '../kernel/errors.js';
import { canonicalJson, type JsonValue } from '../kernel/json.js';
import { DOUBT_KEY, type Entry, STORE_SPACE, type Store, type StoreDoubt } from '../model/store.js';

/** What was copied. */
export interface CopyReport {
  /** Entries by space. */
  readonly spaces: Readonly<Record<string, number>>;
  readonly entries: number;
  readonly records: number;
  /** SHA-256 of everything, the same for both stores. */
  readonly hash: string;
  /** Why the audit log that was copied was not what was written; the copy has a new chain, which does not show it. */
  readonly auditProblem?: string;
}

/** A store to copy to. Entries keep the date they have, so its clock is set. */
export interface CopyTarget {
  readonly store: Store;
  /** What the clock of the store says from now on. */
  setTime(time: number): void;
}

/** Younger than every record. */
const END_OF_TIME = Number.MAX_SAFE_INTEGER;

/**
 * Copies every entry and every audit record, reads both stores again and compares counts and hashes (STORE-5). A target
 * that holds something is refused. When anything fails the target is emptied again. Until all is verified the target is in doubt: half of a
 * store looks like a whole one in which less was rejected (A48). The metadata of a store is not
 * copied. An audit log that was changed after it was written is copied only with `acceptAudit`: the copy has a chain of its own, which fits (A35).
 *
 * @throws ToolscoutError `STORE_ERROR`
 */
export async function copyStore(
  from: Store,
  to: CopyTarget,
  {
    acceptAudit = false,
    finish,
  }: {
    readonly acceptAudit?: boolean;
    /** Adapts what differs in the copy; runs after the comparison. */
    readonly finish?: () => Promise<void>;
  } = {},
): Promise<CopyReport> {
  if (from.location === to.store.location)
    throw refusal('Source and target are the same store.', 'Name another target.');
  if (await from.get(STORE_SPACE, DOUBT_KEY)) {
    throw refusal(
      `The store ${from.location} is not accepted as it is.`,
      'See the reason with toolscout store status, then accept it: toolscout store accept',
    );
  }
  await refuseUsed(to.store);
  const { problem } = await from.verifyAudit();
  if (problem && !acceptAudit) {
    throw refusal(
      `The audit log of ${from.location} was changed after it was written: ${problem.detail}`,
      'Look at it with toolscout audit verify. To copy it all the same, add --accept-audit; the copy no longer shows what was changed.',
    );
  }
  await markUnfinished(to.store);
  try {
    for (const space of await spacesOf(from)) {
      for (const entry of await from.list(space)) {
        refuseDamaged(from, space, entry);
        to.setTime(entry.storedAt);
        await to.store.put(space, entry.key, entry.value, { expiresAt: entry.expiresAt });
      }
    }
    for await (const page of from.auditPages()) await to.store.append(page);
    const [source, target] = [await summarize(from), await summarize(to.store)];
    if (source.hash !== target.hash) throw difference(source, target);
    await finish?.();
    await to.store.delete(STORE_SPACE, DOUBT_KEY);
    return problem ? { ...target, auditProblem: problem.detail } : target;
  } catch (thrown) {
    await empty(to.store);
    await to.store.delete(STORE_SPACE, DOUBT_KEY);
    throw thrown;
  }
}

async function spacesOf(store: Store): Promise<string[]> {
  return (await store.spaces()).filter((space) => space !== STORE_SPACE);
}

async function refuseUsed(store: Store): Promise<void> {
  const [space] = await spacesOf(store);
  const [record] = await store.audit({ limit: 1 });
  if (space === undefined && !record) return;
  const found = space === undefined ? 'audit records' : `entries in "${space}"`;
  throw refusal(
    `The target ${store.location} is in use: it holds ${found}.`,
    'Name an empty store. Nothing was changed.',
  );
}

/** Of two copies into one store one gets it. */
async function markUnfinished(store: Store): Promise<void> {
  const reason: StoreDoubt['reason'] = 'unfinished';
  if (await store.put(STORE_SPACE, DOUBT_KEY, { reason }, { ifRevision: 0 })) return;
  throw refusal(
    `The target ${store.location} is in doubt, or another copy into it is not finished.`,
    'See the reason with toolscout store status. Delete the target, or name another one. Nothing was changed.',
  );
}

function refuseDamaged({ location }: Store, space: string, { key, damaged }: Entry): void {
  if (!damaged) return;
  throw refusal(
    `An entry of ${location} cannot be read: "${key}" in "${space}".`,
    'If it is encrypted, set the TOOLSCOUT_STORE_KEY it was written with. Nothing was changed.',
  );
}

async function summarize(store: Store): Promise<CopyReport> {
  const hash = createHash('sha256');
  const add = (value: JsonValue): void => void hash.update(`${canonicalJson(value)}\n`);
  const spaces: Record<string, number> = Object.create(null) as Record<string, number>;
  let entries = 0;
  let records = 0;
  for (const space of await spacesOf(store)) {
    const all = await store.list(space);
    spaces[space] = all.length;
    entries += all.length;
    for (const { key, value, storedAt, expiresAt } of all) add([space, key, value, storedAt, expiresAt ?? null]);
  }
  for await (const page of store.auditPages()) {
    records += page.length;
    for (const record of page) add(record as unknown as JsonValue);
  }
  return { spaces, entries, records, hash: hash.digest('hex') };
}

function difference(source: CopyReport, target: CopyReport): ToolscoutError {
  return refusal(
    `The copy differs: the source holds ${source.entries} entries and ${source.records} audit records, the copy ${target.entries} and ${target.records}.`,
    'Stop every toolscout that uses the source, then try again. The target was emptied.',
  );
}

async function empty(store: Store): Promise<void> {
  for (const space of await spacesOf(store)) await store.clear(space);
  await store.pruneAudit(END_OF_TIME);
}

function refusal(message: string, suggestion: string): ToolscoutError {
  return new ToolscoutError('STORE_ERROR', message, { suggestion });
}
