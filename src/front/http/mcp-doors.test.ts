import { describe, expect, it } from 'vitest';
import { openOfflineGateway } from '../../../test/support/offline-gateway.js';
import { LOCAL, type Principal, type Scope } from '../../model/principal.js';
import type { McpEndpoint } from '../mcp/http.js';
import { createMcpDoors } from './mcp-doors.js';

const endpoint = (): McpEndpoint => ({
  sessions: 0,
  fetch: async () => new Response(),
  close: async () => {},
});

const principal = (name: string, ...scopes: Scope[]): Principal => ({ name, scopes: new Set(scopes) });

describe('the doors of principals', () => {
  it('SEC-9 S12 only a principal with the scope of an administrator gets the tools of one', async () => {
    const { gateway } = await openOfflineGateway([]);
    const opened: boolean[] = [];
    const mcp = endpoint();
    const doors = createMcpDoors({
      gateway,
      mcp,
      open(_seen, admin) {
        opened.push(admin);
        return endpoint();
      },
    });
    expect(doors.endpointFor(LOCAL)).toBe(mcp);
    const reader = doors.endpointFor(principal('ann', 'read', 'call'));
    const admin = doors.endpointFor(principal('ann', 'read', 'call', 'admin'));
    expect(opened).toEqual([false, true]);
    expect(reader).not.toBe(admin);
    expect(doors.endpointFor(principal('ann', 'call', 'read'))).toBe(reader);
    await doors.close();
  });
});
