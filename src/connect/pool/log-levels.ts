import { messageOf } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { Host } from '../../model/host.js';
import type { Upstream } from '../../model/upstream.js';

/** Sets the log level of a legacy server to that of its host; `undefined` when nothing needs to be sent. */
export type TellLogLevel = (upstream: Upstream, host: Host) => Promise<void> | undefined;

/** Levels told to servers, each once. */
export function createLogLevels(deps: { readonly log: Log; readonly hide: (text: string) => string }): TellLogLevel {
  const told = new WeakMap<Upstream, string>();
  const tell = async (upstream: Upstream, level: string): Promise<void> => {
    told.set(upstream, level);
    try {
      await upstream.request('logging/setLevel', { level });
    } catch (thrown) {
      // Without it the host gets fewer messages, or more, which it drops.
      deps.log.debug('connect.log-level', { server: upstream.server, error: deps.hide(messageOf(thrown)) });
    }
  };
  return (upstream, { logLevel }) => {
    // A modern server gets the level with every request.
    if (logLevel === undefined || upstream.era === 'modern' || !isObject(upstream.capabilities['logging'])) return;
    return told.get(upstream) === logLevel ? undefined : tell(upstream, logLevel);
  };
}
