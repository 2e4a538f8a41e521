import type { CallOptions, Gateway } from '../../gateway/index.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Progress } from '../../model/call.js';
import { callAdminTool, isAdminTool } from './admin-tools.js';
import { callMetaTool } from './meta-tools.js';

/** What a host's connection lends to one call. */
export interface HostCall {
  readonly signal: AbortSignal;
  /** Sends the params of a progress notification to the host. */
  readonly notifyProgress: (params: JsonObject) => void;
  /** The host may administer toolscout. */
  readonly admin?: boolean;
}

/** `_meta` that belongs to the caller (trace context, vendor keys), without what belongs to this hop. */
function callerMeta(meta: JsonObject): JsonObject | undefined {
  const kept = Object.entries(meta).filter(
    ([key]) => key !== 'progressToken' && !key.startsWith('io.modelcontextprotocol/'),
  );
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** Passes a server's progress on under the token of this host's request. */
function relayProgress(meta: JsonObject, host: HostCall): ((progress: Progress) => void) | undefined {
  const { progressToken } = meta;
  if (progressToken === undefined) return undefined;
  return (progress) => host.notifyProgress({ ...progress, progressToken });
}

/** Answers a host's `tools/call`, whatever it arrived on. Never throws. */
export function answerCall(gateway: Gateway, params: unknown, host: HostCall): Promise<JsonObject> {
  const { name, arguments: args, _meta: meta } = isObject(params) ? params : {};
  if (host.admin && typeof name === 'string' && isAdminTool(name)) {
    return callAdminTool(gateway, name, isObject(args) ? args : {}, 'local');
  }
  const options: CallOptions = {
    route: 'mcp',
    signal: host.signal,
    ...(isObject(meta) && { meta: callerMeta(meta), onProgress: relayProgress(meta, host) }),
  };
  return callMetaTool(gateway, typeof name === 'string' ? name : '', isObject(args) ? args : {}, options);
}
