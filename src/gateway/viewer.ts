import type { Catalog } from '../catalog/catalog.js';

import { forbidden } from '../execute/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import { nearestNames, didYouMean } from '../kernel/text.js';
import { hasScope, LOCAL, type Principal } from '../model/principal.js';
import type { Tool } from '../model/tool.js';
import type { Viewer } from '../model/viewer.js';

/** The viewer of a principal: it sees all servers, or those of a key. */
export function viewerOf({ name, scopes, servers }: Principal): Viewer {
  const isLimited = servers !== undefined;
  return { principal: name, scopes, isLimited, sees: isLimited ? (server) => servers.has(server) : () => true };
}

/** The user of this machine, who sees everything. */
export const LOCAL_VIEWER: Viewer = viewerOf(LOCAL);

/** A skill on behalf of a caller: it sees what its bindings cover, as far as its caller sees that too (NEG-5). */
export function skillViewer(caller: Viewer, id: string, covers: Viewer['sees']): Viewer {
  const { principal, scopes } = caller;
  return {
    principal,
    scopes,
    isLimited: true,
    sees: (server, tool) => caller.sees(server, tool) && covers(server, tool),
    skill: { id, caller },
  };
}

/** The caller, apart from the skill that acts for them. */
export function callerOf(viewer: Viewer): Viewer {
  return viewer.skill?.caller ?? viewer;
}

/** The second viewer within the first: they never see or may do more than the first. */
export function within(outer: Viewer, inner: Viewer): Viewer {
  if (outer === LOCAL_VIEWER || outer === inner) return inner;
  const { principal } = inner;
  const scopes = new Set([...inner.scopes].filter((scope) => hasScope(outer, scope)));
  const isLimited = outer.isLimited || inner.isLimited;
  const sees: Viewer['sees'] = (server, tool) => outer.sees(server, tool) && inner.sees(server, tool);
  const id = inner.skill?.id ?? outer.skill?.id;
  if (id === undefined) return { principal, scopes, isLimited, sees };
  return { principal, scopes, isLimited, sees, skill: { id, caller: within(callerOf(outer), callerOf(inner)) } };
}

/** Whether a viewer sees a tool. */
export function isSeen(viewer: Viewer, { server, name }: Pick<Tool, 'server' | 'name'>): boolean {
  return !viewer.isLimited || viewer.sees(server, name);
}

/**
 * The same words whether a server exists or not: who may not see it must not learn which (S12). The nearest names are
 * of those that they may see.
 */
function noServer(viewer: Viewer, id: string, { servers }: Catalog): ToolscoutError {
  const near = didYouMean(
    nearestNames(
      id,
      [...servers.keys()].filter((each) => viewer.sees(each)),
    ),
  );
  return new ToolscoutError('SERVER_NOT_FOUND', `There is no server "${id}".${near}`, { delivered: false });
}

/**
 * Whether the id is hidden from a viewer that sees only some servers, or does not exist. Bindings of a skill do not
 * count.
 */
export function isHidden(viewer: Viewer, id: string, { servers }: Catalog): boolean {
  const caller = callerOf(viewer);
  return caller.isLimited && !(caller.sees(id) && servers.has(id));
}

/**
 * Lets pass what is not hidden, see {@link isHidden}.
 *
 * @throws ToolscoutError `SERVER_NOT_FOUND`.
 */
export function requireVisible(viewer: Viewer, id: string, catalog: Catalog): void {
  if (isHidden(viewer, id, catalog)) throw noServer(callerOf(viewer), id, catalog);
}

/**
 * Lets pass a server that the viewer sees; whether there is one is for others to say where the viewer sees everything.
 *
 * @throws ToolscoutError `SERVER_NOT_FOUND`, or `FORBIDDEN` for a skill that is not bound to it.
 */
export function requireServer(viewer: Viewer, id: string, catalog: Catalog): void {
  if (!viewer.isLimited) return;
  requireVisible(viewer, id, catalog);
  if (viewer.skill && !viewer.sees(id)) throw forbidden(viewer.skill.id, id);
}
