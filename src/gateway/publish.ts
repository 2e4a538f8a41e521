import { ToolscoutError } from '../kernel/errors.js';
import type { Gateway, Toolscout } from './contract.js';

/** The gateway behind each object that was handed out. */
const BEHIND = new WeakMap<Toolscout, Gateway>();

/** A gateway as it is handed out to programs: what only fronts use is not there. */
export function publish(gateway: Gateway): Toolscout {
  const { hosts: _hosts, internal: _internal, sessions: _sessions, studio: _studio, as, ...shared } = gateway;
  const toolscout: Toolscout = { ...shared, as: (viewer) => publish(as(viewer)) };
  BEHIND.set(toolscout, gateway);
  return toolscout;
}

/**
 * The gateway behind an object that {@link publish} made, for fronts that a program mounts over it.
 *
 * @throws ToolscoutError `INVALID_REQUEST` for a copy of such an object.
 */
export function gatewayOf(toolscout: Toolscout | Gateway): Gateway {
  const gateway = 'internal' in toolscout ? toolscout : BEHIND.get(toolscout);
  if (gateway) return gateway;
  throw new ToolscoutError('INVALID_REQUEST', 'The argument was not returned by createToolscout() or as().', {
    suggestion: 'Pass the object itself, not a copy of it.',
  });
}
