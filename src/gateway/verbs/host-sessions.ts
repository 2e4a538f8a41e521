import { messageOf } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import type { Host } from '../../model/host.js';
import type { Upstream } from '../../model/upstream.js';
import type { Core } from '../core.js';
import type { Gateway } from '../contract.js';

/** Sees to it that a legacy server logs as its host wishes. */
export type LogLevels = (upstream: Upstream, host: Host) => Promise<void>;

/** Levels told to servers, each once. */
export function createLogLevels(core: Core): LogLevels {
  const told = new WeakMap<Upstream, string>();
  return async (upstream, { logLevel }) => {
    // A modern server is told with every request.
    if (logLevel === undefined || upstream.era === 'modern' || !isObject(upstream.capabilities['logging'])) return;
    if (told.get(upstream) === logLevel) return;
    told.set(upstream, logLevel);
    try {
      await upstream.request('logging/setLevel', { level: logLevel });
    } catch (thrown) {
      // Without it the host hears less, or more, which it drops.
      core.deps.log.debug('gateway.log-level', { server: upstream.server, error: core.hide(messageOf(thrown)) });
    }
  };
}

/** The verbs for what a host says outside of calls. */
export function hostingVerbs(
  core: Core,
  levels: LogLevels,
): Pick<Gateway, 'tellServers' | 'setLogLevel' | 'releaseHost'> {
  const { pool } = core.deps;
  return {
    tellServers(host, method, params) {
      for (const upstream of pool.connectionsOf(host)) if (upstream.era === 'legacy') upstream.tell(method, params);
    },
    async setLogLevel(host) {
      await Promise.all(pool.connectionsOf(host).map((upstream) => levels(upstream, host)));
    },
    releaseHost: (host) => pool.release(host),
  };
}
