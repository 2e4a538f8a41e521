import { describe, expect, it } from 'vitest';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { LOCAL, type Principal, type Scope } from '../../../model/principal.js';
import type { McpEndpoint } from '../../mcp/http/http.js';
import { createPrincipalEndpoints } from './mcp.js';

const endpoint = (): McpEndpoint => ({
  sessions: 0,
  isBusy: false,
  serve: async () => new Response(),
  fetch: async () => new Response(),
  close: async () => {},
});

const principal = (name: string, ...scopes: Scope[]): Principal => ({ name, scopes: new Set(scopes) });

describe('the endpoints of principals', () => {
  it('SEC-9 S12 only a principal with the scope of an administrator gets the tools of one', async () => {
    const { gateway } = await openOfflineGateway([]);
    const opened: boolean[] = [];
    const endpoints = createPrincipalEndpoints({
      gateway,
      localAdmin: true,
      open(_seen, admin) {
        opened.push(admin);
        return endpoint();
      },
    });
    const yes = (): boolean => true;
    const local = endpoints.endpointFor(LOCAL, yes);
    const reader = endpoints.endpointFor(principal('ann', 'read', 'call'), yes);
    const admin = endpoints.endpointFor(principal('ann', 'read', 'call', 'admin'), yes);
    expect(opened).toEqual([true, false, true]);
    expect(new Set([local, reader, admin]).size).toBe(3);
    expect(endpoints.endpointFor(principal('ann', 'call', 'read'), yes)).toBe(reader);
    expect(endpoints.endpointFor(LOCAL, yes)).toBe(local);
    expect(endpoints.endpointFor({ ...principal('ann', 'call', 'read'), credential: 'key:2' }, yes)).not.toBe(reader);
    await endpoints.close();
  });

  it('S12 R13 with too many callers the door of one who waits for nothing is closed first', async () => {
    const { gateway } = await openOfflineGateway([]);
    const closed: string[] = [];
    let opening = { name: '', isBusy: false };
    const endpoints = createPrincipalEndpoints({
      gateway,
      open() {
        const { name, isBusy } = opening;
        return { ...endpoint(), isBusy, close: async () => void closed.push(name) };
      },
    });
    const enter = (name: string, isBusy: boolean): void => {
      opening = { name, isBusy };
      endpoints.endpointFor(principal(name, 'call'), () => true);
    };
    enter('busy', true);
    enter('quiet', false);
    enter('quieter', false);
    for (let count = 3; count < 256; count++) enter(`caller ${count}`, true);
    expect(closed).toEqual([]);
    enter('one more', false);
    enter('quieter', false);
    enter('another', true);
    expect(closed).toEqual(['quiet', 'one more']);
    for (let count = 0; count < 2; count++) enter(`late ${count}`, true);
    expect(closed).toEqual(['quiet', 'one more', 'quieter', 'busy']);
    await endpoints.close();
  });
});
