import type { Gateway, HostCallOptions } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { directFailureText } from './agent-remedies.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { callOptions, protocolError, type Exchange } from '../exchange.js';
import { refuseDeep, traced } from './meta-tools.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Runs a tool that a host sees under a name of its own: through the one door, with the server's own answer or error. */
export async function runTool(
  gateway: Gateway,
  address: { readonly server: string; readonly tool: string },
  params: JsonObject,
  exchange: Exchange,
  { budget = 'passthrough', hostName }: Pick<HostCallOptions, 'budget' | 'hostName'> = {},
): Promise<JsonObject> {
  const { server, tool } = address;
  const given = params['arguments'] ?? {};
  if (!isObject(given)) throw protocolError(RPC_CODE.invalidParams, 'tools/call needs "arguments" to be an object.');
  const options = callOptions(params, exchange, budget, hostName);
  const { result, error } = await gateway.call(server, tool, given, options);
  if (result) {
    refuseDeep(result, address);
    return result;
  }
  const upstream = error?.upstream;
  // What the server itself refused reaches the host as the server said it.
  if (upstream) throw new ToolscoutError('TOOL_EXECUTION_ERROR', error?.message ?? '', { upstream });
  if (error?.code === 'TOOL_NOT_FOUND') throw protocolError(RPC_CODE.invalidParams, error.message);
  const { wordFailure = directFailureText } = options;
  return traced({ content: [{ type: 'text', text: error ? wordFailure(error) : '{}' }], isError: true }, exchange);
}
