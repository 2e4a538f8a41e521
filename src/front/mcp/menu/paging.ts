import { sha256 } from '../../../kernel/hash.js';
import type { JsonObject } from '../../../kernel/json.js';
import { protocolError } from '../exchange.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Entries of one page. */
const PAGE = 1000;

/** A page of a list, and where the next one begins. */
export interface Page {
  readonly items: JsonObject[];
  readonly nextCursor?: string;
}

/** Changes whenever the list does, so that no page of one list is taken for a page of another. */
function markOf(list: readonly JsonObject[], key: string): string {
  return sha256(list.map((item) => String(item[key])).join('\n')).slice(0, 16);
}

/**
 * The page of a list at a cursor; `key` identifies its entries.
 *
 * @throws ToolscoutError with the code for invalid params when the cursor is not one of this list.
 */
export function pageOf(list: readonly JsonObject[], key: string, cursor: unknown): Page {
  if (list.length <= PAGE && cursor === undefined) return { items: [...list] };
  const mark = markOf(list, key);
  const [at = '', of] = cursor === undefined ? ['0', mark] : String(cursor).split('.', 2);
  const from = Number(at);
  if (of !== mark || !/^\d{1,9}$/.test(at) || from % PAGE !== 0 || from >= Math.max(list.length, 1)) {
    throw protocolError(RPC_CODE.invalidParams, 'Invalid cursor: the list has changed, or it was never given out.');
  }
  const next = from + PAGE;
  return { items: list.slice(from, next), ...(next < list.length && { nextCursor: `${next}.${mark}` }) };
}
