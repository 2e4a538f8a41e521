import { hashJson } from '../../../kernel/hash.js';
import type { JsonObject } from '../../../kernel/json.js';

/**
 * The id of all hosts of one principal that declared the same: they may share a connection to a server,
 * because either none of them can be asked or it does not matter which of them is.
 */
export function sharedHostId(principal: string, capabilities: JsonObject, logLevel?: string): string {
  return `of:${hashJson([principal, capabilities, logLevel ?? null])}`;
}
