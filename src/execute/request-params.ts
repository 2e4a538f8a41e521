import type { JsonObject } from '../kernel/json.js';
import type { Call } from '../model/call.js';

/** What the server is asked. Of the host's `_meta` all but its progress token: that one names a request of the host. */
export function paramsOf({ arguments: args, resumed, meta }: Call, name: string): JsonObject {
  const params: JsonObject = { name, arguments: args };
  if (resumed) Object.assign(params, resumed);
  if (meta) {
    const { progressToken: _ours, ...rest } = meta;
    if (Object.keys(rest).length > 0) params['_meta'] = rest;
  }
  return params;
}
