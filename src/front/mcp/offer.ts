import type { JsonObject } from '../../kernel/json.js';
import type { Exchange } from './exchange.js';

/** What one host is offered: how toolscout introduces itself to it, and what it answers. */
export interface Offer {
  /** Name, version and whatever else belongs to an introduction. */
  readonly info: JsonObject & { readonly name: string; readonly version: string };
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** Answers a request with the result itself; throws what `toRpcError` makes an error of. */
  answer(method: string, params: JsonObject, exchange: Exchange): Promise<JsonObject>;
}
