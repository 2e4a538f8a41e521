import { ToolscoutError } from '../kernel/errors.js';
import { nearestNames } from '../kernel/text.js';
import type { Call } from '../model/call.js';
import { didYouMean } from '../catalog/catalog.js';
import type { Core } from './core.js';

/**
 * The same words whether a server exists or not: who may not see it must not learn which (S12). The nearest names are
 * of those that they may see.
 */
export function noServer(id: string, visible: Iterable<string> = []): ToolscoutError {
  const near = didYouMean(nearestNames(id, visible));
  return new ToolscoutError('SERVER_NOT_FOUND', `There is no server "${id}".${near}`, { delivered: false });
}

/** The servers that a caller may see. */
export function visibleTo({ servers }: Pick<Call, 'servers'>, { catalog }: Core): string[] {
  return [...catalog.servers.keys()].filter((id) => servers?.has(id) ?? true);
}

/** Whether a caller who may see only some servers means another one, or one that is none. */
export function isHidden(id: string, { servers }: Pick<Call, 'servers'>, { catalog }: Core): boolean {
  return servers !== undefined && !(servers.has(id) && catalog.servers.has(id));
}
