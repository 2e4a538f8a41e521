import { seconds } from '../../kernel/text.js';
import { sleep, type Clock } from '../../kernel/clock.js';
import { messageOf } from '../../kernel/errors.js';
import type { Store, StoreDoubt } from '../../model/store.js';

/** How the store does (A48, R9). */
export interface StoreStatus {
  readonly location: string;
  /** Whether it keeps what is given to it. */
  readonly writable: boolean;
  /** Why it does not. */
  readonly problem?: string;
  /** Why nothing in it is trusted until a person accepts it. */
  readonly doubt?: StoreDoubt;
}

/** How long one check of the store is valid: any caller may ask for the health, and each check writes. */
const KEPT_MS = 2000;

/** A store that takes longer than this to write one value does not answer. */
const PATIENCE_MS = 1000;

/** Writes a value and reads it back; rejects with the reason when that fails. */
export async function tryStore(store: Store, clock: Clock): Promise<void> {
  await store.put('doctor', 'probe', clock.now());
  const read = await store.get('doctor', 'probe');
  if (typeof read?.value !== 'number') throw new Error('a value that was written could not be read back');
}

/** Checks a store on demand, at most once per interval. Never rejects. */
export function createStoreWatch(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly hide: (text: string) => string;
  readonly doubt: () => StoreDoubt | undefined;
}): () => Promise<StoreStatus> {
  const { store, clock } = deps;
  type Probe = Pick<StoreStatus, 'writable' | 'problem'>;
  let last: { readonly at: number; readonly probe: Promise<Probe> } | undefined;

  const probe = async (): Promise<Probe> => {
    const stop = new AbortController();
    const late = sleep(clock, PATIENCE_MS, stop.signal).then(
      () => 'late' as const,
      () => undefined,
    );
    const written = tryStore(store, clock).then(
      () => undefined,
      (thrown: unknown) => deps.hide(messageOf(thrown)),
    );
    const outcome = await Promise.race([written, late]);
    stop.abort();
    if (outcome === 'late')
      return { writable: false, problem: `The store does not answer within ${seconds(PATIENCE_MS)}.` };
    return outcome === undefined ? { writable: true } : { writable: false, problem: outcome };
  };

  return async () => {
    const now = clock.monotonic();
    if (!last || now - last.at >= KEPT_MS) last = { at: now, probe: probe() };
    const doubt = deps.doubt();
    return { location: store.location, ...(await last.probe), ...(doubt && { doubt }) };
  };
}
