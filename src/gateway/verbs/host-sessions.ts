import type { Core } from '../core.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** The verbs for what a host says outside of calls. */
export function hostingVerbs(core: Core): VerbTable<'tellServers' | 'setLogLevel' | 'releaseHost'> {
  const { pool } = core.deps;
  return defineVerbs({
    tellServers(_viewer, host, method, params) {
      for (const upstream of pool.connectionsOf(host)) if (upstream.era === 'legacy') upstream.tell(method, params);
    },
    setLogLevel: (_viewer, host) => pool.setLogLevel(host),
    releaseHost: (_viewer, host) => pool.release(host),
  });
}
