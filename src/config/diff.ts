import type { Server } from '../model/server.js';

/** What became of the servers between two configs; every entry but `removed` is the new object. */
export interface ServerDiff {
  readonly added: Server[];
  readonly removed: Server[];
  /** Their connection must be opened, opened again, or closed. */
  readonly changed: Server[];
  /** They keep their connection, though tags, limits or the title may differ. */
  readonly unchanged: Server[];
}

function isUsable(server: Server): boolean {
  return server.enabled && server.problem === undefined;
}

/** Compares two lists of servers by id. Only what matters for connecting makes a server `changed` (CFG-6). */
export function diffServers(before: readonly Server[], after: readonly Server[]): ServerDiff {
  const old = new Map(before.map((server) => [server.id, server]));
  const kept = new Set(after.map((server) => server.id));
  const diff: ServerDiff = {
    added: [],
    removed: before.filter((server) => !kept.has(server.id)),
    changed: [],
    unchanged: [],
  };
  for (const server of after) {
    const was = old.get(server.id);
    if (!was) diff.added.push(server);
    else if (was.digest !== server.digest || isUsable(was) !== isUsable(server)) diff.changed.push(server);
    else diff.unchanged.push(server);
  }
  return diff;
}
