import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import type { Manifest } from '../model/manifest.js';
import { createMemoryStore } from '../store/index.js';
import { createMarketplace } from './marketplace.js';

const manifest = (server: string, tool: string, description = 'x'): Manifest => ({
  id: `mcp.${server}.${tool}`,
  version: '1.0.0',
  description,
  inputSchema: { type: 'object' },
  parameters: [],
  provider: { type: 'mcp', command: 'x', args: [], toolName: tool },
  domains: [],
  categories: ['other'],
});

describe('the marketplace', () => {
  it('SEC-9 holds what was registered, once each, and gives back what is withdrawn', async () => {
    const market = createMarketplace({ store: createMemoryStore({ clock: createFakeClock() }) });
    await market.registerCapability(manifest('notes', 'write'));
    expect(await market.registerAll([manifest('notes', 'read'), manifest('notes', 'write')])).toBe(1);
    expect(await market.registerAll([manifest('notes', 'read', 'new')])).toBe(1);
    expect((await market.list()).map(({ id, description }) => [id, description])).toEqual([
      ['mcp.notes.read', 'new'],
      ['mcp.notes.write', 'x'],
    ]);
    expect(await market.withdraw('notes', new Set(['read']))).toBe(1);
    expect(await market.withdraw('other')).toBe(0);
    expect(await market.withdraw('notes')).toBe(1);
    expect(await market.list()).toEqual([]);
  });

  it('A22 manifests with the same id but of different servers do not replace each other', async () => {
    const market = createMarketplace({ store: createMemoryStore({ clock: createFakeClock() }) });
    await market.registerAll([manifest('a.b', 'c'), manifest('a', 'b.c')]);
    expect(await market.list()).toHaveLength(2);
    expect(await market.withdraw('a')).toBe(1);
    expect((await market.list())[0]?.provider.toolName).toBe('c');
  });

  it('A23 refuses an invalid manifest, and skips a stored one', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    const market = createMarketplace({ store });
    for (const wrong of [{}, { ...manifest('a', 'b'), id: 'x' }, { ...manifest('a', 'b'), extra: 1 }, null]) {
      await expect(market.registerCapability(wrong as never)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    }
    await store.put('marketplace', 'broken', { id: 1 });
    await market.registerCapability(manifest('a', 'b'));
    expect(await market.list()).toEqual([manifest('a', 'b')]);
  });
});
