import type { CallOptions, Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import { protocolError } from '../exchange.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** What the address of a kept result begins with (ANS-2); the handle follows. No list names one. */
export const RESULT_URI = 'toolscout://result/';

/** A kept result as a resource: all of it. Another viewer's handle is answered like an unknown one. */
export async function readKept(gateway: Gateway, uri: string, options: CallOptions): Promise<JsonObject> {
  const handle = uri.slice(RESULT_URI.length);
  const { result } = await gateway.call('toolscout', 'read_result', { handle }, options);
  const [block] = (result?.['content'] ?? []) as Array<{ readonly text?: string }>;
  if (block?.text === undefined) throw protocolError(RPC_CODE.invalidParams, 'Resource not found', { uri });
  return {
    contents: [{ uri, mimeType: /^[[{]/.test(block.text) ? 'application/json' : 'text/plain', text: block.text }],
  };
}
