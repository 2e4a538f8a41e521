import { viewerOf, type Gateway } from '../../../gateway/index.js';
import { LOCAL, type Principal } from '../../../model/principal.js';
import type { McpEndpoint } from '../../mcp/http/http.js';
import { identityOf } from './auth.js';

/** The MCP endpoint of each principal. */
export interface McpDoors {
  /** The endpoint of a principal; it is shut when `isAdmitted` does not hold after a reload. */
  endpointFor(principal: Principal, isAdmitted: () => boolean): McpEndpoint;
  close(): Promise<void>;
}

/** Endpoints kept at once; beyond that one is closed behind which nothing goes on, the one that was quiet longest. */
const MAX_DOORS = 256;

interface Door {
  readonly endpoint: McpEndpoint;
  readonly isAdmitted: () => boolean;
}

/**
 * An endpoint of its own for every principal: it sees only what they may see, and a session of one
 * is unknown at the door of another (S5, S12). With the key that opened it a door is gone, and with
 * the door every session and every stream behind it.
 */
export function createMcpDoors(options: {
  readonly gateway: Gateway;
  /** Whether the user of this machine may administer it through here. */
  readonly localAdmin?: boolean;
  readonly open: (gateway: Gateway, admin: boolean) => McpEndpoint;
}): McpDoors {
  const { gateway, localAdmin = false, open } = options;
  const doors = new Map<string, Door>();
  let unfollow: (() => void) | undefined;

  const shut = (key: string, { endpoint }: Door): void => {
    doors.delete(key);
    void endpoint.close();
  };
  const makeRoom = (): void => {
    const all = [...doors];
    const quiet = all.find(([, door]) => !door.endpoint.isBusy) ?? all[0];
    if (quiet) shut(...quiet);
  };
  const review = (): void => {
    for (const [key, door] of doors) if (!door.isAdmitted()) shut(key, door);
  };
  const openDoor = (principal: Principal): McpEndpoint => {
    unfollow ??= gateway.onEvent(({ type }) => type === 'reloaded' && review());
    const isAdmin = principal === LOCAL ? localAdmin : principal.scopes.has('admin');
    return open(principal === LOCAL ? gateway : gateway.as(viewerOf(principal)), isAdmin);
  };

  return {
    endpointFor(principal, isAdmitted) {
      const key = identityOf(principal);
      const endpoint = doors.get(key)?.endpoint ?? openDoor(principal);
      // Most recently used last, so that the quiet one is the first to go.
      doors.delete(key);
      doors.set(key, { endpoint, isAdmitted });
      if (doors.size > MAX_DOORS) makeRoom();
      return endpoint;
    },
    async close() {
      unfollow?.();
      await Promise.all([...doors.values()].map(({ endpoint }) => endpoint.close()));
    },
  };
}
