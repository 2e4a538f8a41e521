import type { Gateway } from '../../gateway/index.js';
import { LOCAL, type Principal } from '../../model/principal.js';
import type { McpEndpoint } from '../mcp/http.js';
import { scopeGateway } from './scoped-gateway.js';

/** The MCP endpoint of each principal. */
export interface McpDoors {
  endpointFor(principal: Principal): McpEndpoint;
  close(): Promise<void>;
}

/** Endpoints kept at once; beyond that the one that was quiet longest is closed. */
const MOST_DOORS = 256;

/**
 * An endpoint of its own for every principal: it sees only what they may see, and a session of one
 * is unknown at the door of another (S5, S12).
 */
export function createMcpDoors(options: {
  readonly gateway: Gateway;
  /** For the user of this machine. */
  readonly mcp: McpEndpoint;
  readonly open: (gateway: Gateway, admin: boolean) => McpEndpoint;
}): McpDoors {
  const doors = new Map<string, McpEndpoint>();
  return {
    endpointFor(principal) {
      if (principal === LOCAL) return options.mcp;
      const { name, scopes, servers } = principal;
      const key = JSON.stringify([name, [...scopes].toSorted(), servers ? [...servers].toSorted() : null]);
      const door = doors.get(key) ?? options.open(scopeGateway(options.gateway, principal), scopes.has('admin'));
      // Most recently used last, so that the quiet one is the first to go.
      doors.delete(key);
      doors.set(key, door);
      const [oldest] = doors;
      if (doors.size > MOST_DOORS && oldest) {
        doors.delete(oldest[0]);
        void oldest[1].close();
      }
      return door;
    },
    async close() {
      await Promise.all([options.mcp, ...doors.values()].map((door) => door.close()));
    },
  };
}
