import { describe, expect, it } from 'vitest';
import type { ConfigInput } from '../model/config.js';
import type { Server } from '../model/server.js';
import { diffServers, resolveConfig } from './index.js';

function serversOf(servers: ConfigInput['servers'], env: Record<string, string> = {}): Server[] {
  return resolveConfig({ servers }, { source: 'library', env }).servers;
}
const ids = (servers: readonly Server[]): string[] => servers.map((server) => server.id);

describe('diffServers', () => {
  it('CFG-6 tells added, removed, changed and unchanged apart', () => {
    const before = serversOf({ gone: { command: 'a' }, same: { command: 'b' }, moved: { url: 'https://a.example' } });
    const after = serversOf({ same: { command: 'b' }, moved: { url: 'https://b.example' }, fresh: { command: 'c' } });
    const diff = diffServers(before, after);
    expect(ids(diff.added)).toEqual(['fresh']);
    expect(ids(diff.removed)).toEqual(['gone']);
    expect(ids(diff.changed)).toEqual(['moved']);
    expect(ids(diff.unchanged)).toEqual(['same']);
    expect(diff.changed[0]).toBe(after[1]);
  });

  it('CFG-6 tags, timeouts and titles keep the connection, and the new object is given', () => {
    const before = serversOf({ a: { command: 'x' } });
    const after = serversOf({
      a: { command: 'x', tags: ['t'], timeoutMs: 5, title: 'A', rateLimit: { burstSize: 1 } },
    });
    const diff = diffServers(before, after);
    expect(diff.changed).toEqual([]);
    expect(diff.unchanged[0]).toBe(after[0]);
  });

  it.each([
    ['args', { command: 'x', args: ['1'] }],
    ['env', { command: 'x', env: { A: '1' } }],
    ['cwd', { command: 'x', cwd: '/tmp' }],
    ['enabled', { command: 'x', enabled: false }],
    ['type', { url: 'https://x.example' }],
  ])('CFG-6 %s makes a server changed', (_what, entry) => {
    expect(ids(diffServers(serversOf({ a: { command: 'x' } }), serversOf({ a: entry })).changed)).toEqual(['a']);
  });

  it('CFG-6 the order of keys changes nothing, a variable with another value does', () => {
    const one = serversOf({ a: { command: 'x', env: { A: '1', B: '${V}' } } }, { V: 'first' });
    const same = serversOf({ a: { env: { B: '${V}', A: '1' }, command: 'x' } }, { V: 'first' });
    const other = serversOf({ a: { command: 'x', env: { A: '1', B: '${V}' } } }, { V: 'second' });
    const missing = serversOf({ a: { command: 'x', env: { A: '1', B: '${V}' } } });
    expect(ids(diffServers(one, same).unchanged)).toEqual(['a']);
    expect(ids(diffServers(one, other).changed)).toEqual(['a']);
    expect(ids(diffServers(one, missing).changed)).toEqual(['a']);
  });

  it('A27 an id such as constructor is an ordinary id', () => {
    const servers = serversOf({ constructor: { command: 'x' }, toString: { command: 'y' } });
    expect(ids(diffServers([], servers).added)).toEqual(['constructor', 'toString']);
  });
});
