import { messageOf } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import type { Host } from '../../../model/host.js';
import type { HostSurface } from '../menu/host-surface.js';

/** Resources that one `subscriptions/listen` may name. */
const MAX_URIS = 100;

/**
 * Watches the resources that a modern host subscribes to. A server's refusal comes later, so it is only logged: the
 * host gets no updates, as from a server that never changes.
 */
export function watchFor(
  surface: HostSurface,
  params: unknown,
  options: {
    readonly host: Host;
    readonly log: Log;
    readonly onUpdate: (uri: string, params: JsonObject) => void;
  },
): () => void {
  const wanted = isObject(params) && isObject(params['notifications']) ? params['notifications'] : {};
  const named = Array.isArray(wanted['resourceSubscriptions']) ? wanted['resourceSubscriptions'] : [];
  const uris = [...new Set(named.filter((uri) => typeof uri === 'string'))].slice(0, MAX_URIS);
  let over = false;
  const stops: Array<() => void> = [];
  for (const uri of surface.watch ? uris : []) {
    surface
      .watch?.(uri, options.host, (update) => options.onUpdate(uri, update))
      .then((stop) => (over ? stop() : stops.push(stop)))
      .catch((thrown: unknown) => options.log.info('mcp.unwatched', { uri, error: messageOf(thrown) }));
  }
  return () => {
    over = true;
    for (const stop of stops) stop();
  };
}
