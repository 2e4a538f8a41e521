import { ToolscoutError } from '../kernel/errors.js';
import type { Call } from '../model/call.js';
import type { Core } from './core.js';

/** The same words whether a server exists or not: who may not see it must not learn which (S12). */
export function noServer(id: string): ToolscoutError {
  return new ToolscoutError('SERVER_NOT_FOUND', `There is no server "${id}".`, { delivered: false });
}

/** Whether a caller who may see only some servers means another one, or one that is none. */
export function isHidden(id: string, { servers }: Pick<Call, 'servers'>, { catalog }: Core): boolean {
  return servers !== undefined && !(servers.has(id) && catalog.servers.has(id));
}
