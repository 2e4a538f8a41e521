import { randomBytes } from 'node:crypto';
import { ToolscoutError } from '../kernel/errors.js';
import { KEY_BYTES } from '../kernel/sealing.js';
import type { Store } from './store.js';

/**
 * A random key that all processes of one store share. It is made when it is first needed; of two processes that make it at the same
 * moment the first one's holds.
 *
 * @throws ToolscoutError `STORE_ERROR` when the store does not give back what was written.
 */
export function createStoreKey(store: Store, space: string): () => Promise<Buffer> {
  let known: Promise<Buffer> | undefined;
  const read = async (): Promise<{ readonly key?: Buffer; readonly revision: number }> => {
    const entry = await store.get(space, space);
    const key = typeof entry?.value === 'string' ? Buffer.from(entry.value, 'base64') : undefined;
    return { ...(key?.length === KEY_BYTES && { key }), revision: entry?.revision ?? 0 };
  };
  const make = async (): Promise<Buffer> => {
    const found = await read();
    if (found.key) return found.key;
    // What a damaged key sealed can never be opened again: a new one takes its place (A48).
    const fresh = randomBytes(KEY_BYTES).toString('base64');
    await store.put(space, space, fresh, { ifRevision: found.revision });
    const { key } = await read();
    if (key) return key;
    throw new ToolscoutError('STORE_ERROR', `The store did not return the key "${space}" that was written to it.`, {
      suggestion: 'Run toolscout store status to check the store.',
    });
  };
  return () =>
    (known ??= make().catch((thrown: unknown) => {
      known = undefined;
      throw thrown;
    }));
}
