import type { TrafficFilter, TrafficRow } from '../../model/traffic.js';
import type { Viewer } from '../../model/viewer.js';
import type { Traffic } from '../traffic.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** Whether a viewer may see a row: all of its servers, and of what belongs to no server their own (S12). */
function isSeen({ servers, principal }: TrafficRow, viewer: Viewer): boolean {
  if (!viewer.isLimited) return true;
  if (servers.length === 0) return principal === viewer.principal;
  return servers.every((server) => viewer.sees(server));
}

/** Whether a row fits a filter. */
export function isWanted(row: TrafficRow, filter: TrafficFilter): boolean {
  const { server, tool, method, principal, state, q } = filter;
  if (server !== undefined && !row.servers.includes(server)) return false;
  if (tool !== undefined && row.tool !== tool && row.name !== tool) return false;
  if (method !== undefined && row.method !== method) return false;
  if (principal !== undefined && row.principal !== principal) return false;
  if (state !== undefined && row.state !== state) return false;
  return q === undefined || JSON.stringify(row).toLowerCase().includes(q.toLowerCase());
}

/** The verbs about the traffic. */
export function trafficVerbs(
  traffic: Traffic,
): VerbTable<'internal.traffic' | 'studio.traffic' | 'studio.followTraffic'> {
  return defineVerbs({
    'internal.traffic': (_viewer) => traffic,
    'studio.traffic': (viewer, filter = {}) =>
      traffic.rows().filter((row) => isSeen(row, viewer) && isWanted(row, filter)),
    'studio.followTraffic': (viewer, listener, filter = {}) =>
      traffic.follow((row) => {
        if (isSeen(row, viewer) && isWanted(row, filter)) listener(row);
      }),
  });
}
