import type { Core } from '../core.js';
import type { Gateway } from '../contract.js';

/** The verbs for what a host says outside of calls. */
export function hostingVerbs(core: Core): Pick<Gateway, 'tellServers' | 'setLogLevel' | 'releaseHost'> {
  const { pool } = core.deps;
  return {
    tellServers(host, method, params) {
      for (const upstream of pool.connectionsOf(host)) if (upstream.era === 'legacy') upstream.tell(method, params);
    },
    setLogLevel: (host) => pool.setLogLevel(host),
    releaseHost: (host) => pool.release(host),
  };
}
