import { isObject } from '../../kernel/json.js';
import type { Store } from '../../model/store.js';
import { EXPORT_SPACE, readCursor } from './push.js';

/** Records that are counted at once. */
const PAGE = 1000;

/** Goes on from a place in the log by so many records, or to its end. */
async function walk(store: Store, from: number, limit = Infinity): Promise<{ position: number; count: number }> {
  let position = from;
  let count = 0;
  while (count < limit) {
    const page = await store.auditAfter(position, Math.min(PAGE, limit - count));
    if (page.position === position) break;
    position = page.position;
    count += page.records.length;
  }
  return { position, count };
}

/**
 * Sets the cursors in a copy of a store: its records have other places than those of the source, where some were pruned. With the old
 * place a sink would get records twice, or would miss all of them up to that place (SEC-12).
 */
export async function moveExportCursors(from: Store, copy: Store): Promise<void> {
  const { count: all } = await walk(copy, 0);
  for (const { key, value, expiresAt, revision } of await copy.list(EXPORT_SPACE)) {
    if (!isObject(value)) continue;
    const { count: unsent } = await walk(from, readCursor(value).position);
    const { position } = await walk(copy, 0, all - unsent);
    await copy.put(EXPORT_SPACE, key, { ...value, position }, { expiresAt, ifRevision: revision });
  }
}
