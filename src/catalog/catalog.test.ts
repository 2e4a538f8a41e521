import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Approvals } from '../approvals/index.js';
import { resolveConfig } from '../config/index.js';
import type { JsonObject } from '../kernel/json.js';
import { createCatalog, type Catalog, type LearnedList } from './catalog.js';

type Trusting = Pick<Approvals, 'hold' | 'judge'>;

const { config, servers } = resolveConfig(
  { servers: { big: { command: 'true' } }, toolRules: [{ pattern: '*_off', enabled: false }] },
  { source: 'library', env: {} },
);
const big = servers[0]!;

function listOf(count: number): LearnedList {
  const items: JsonObject[] = Array.from({ length: count }, (_, i) => ({
    name: `tool_${i}${i % 3 === 0 ? '_off' : ''}`,
    description: `does thing ${i}`,
    inputSchema: { type: 'object' },
  }));
  return { items, learnedAt: 0, dropped: 0, info: { name: 'zanzibar', version: '1' } };
}

/** Approvals that a test makes up its mind about. */
interface Mind {
  readonly approvals: Trusting;
  isTrusted: boolean;
  isPresentable: boolean;
}

function createMind(): Mind {
  const mind: Mind = {
    isTrusted: true,
    isPresentable: true,
    approvals: {
      hold: () => undefined,
      judge: () => ({
        isPresentable: mind.isPresentable,
        judge: () =>
          mind.isTrusted
            ? ({ status: 'enabled' } as const)
            : ({ status: 'quarantined', hold: { cause: 'changed', reason: 'it changed' } } as const),
      }),
    },
  };
  return mind;
}

const statuses = (catalog: Catalog): string[] => [...new Set(catalog.index.tools('big').map(({ status }) => status))];

describe('judging again', () => {
  it('SEC-9 a decision is in force at once for every tool, and rules stay in force', async () => {
    const mind = createMind();
    const catalog = createCatalog(config, servers, undefined, mind.approvals);
    const before = await catalog.put(big, listOf(90));
    expect(statuses(catalog).toSorted()).toEqual(['disabled', 'enabled']);
    mind.isTrusted = false;
    catalog.reconsider('big');
    expect(statuses(catalog).toSorted()).toEqual(['disabled', 'quarantined']);
    expect(catalog.index.search('thing 7')).toEqual([]);
    expect(catalog.index.tool('big', 'tool_7')!.hold?.reason).toBe('it changed');
    mind.isTrusted = true;
    catalog.reconsider('big');
    expect(catalog.index.tools('big')).toEqual(before);
    expect(catalog.index.search('thing 7')[0]!.tool.name).toBe('tool_7');
  });

  it('FIND-3 judging a server again reads none of its definitions again', async () => {
    const mind = createMind();
    const catalog = createCatalog(config, servers, undefined, mind.approvals);
    const { items, ...rest } = listOf(50);
    let reads = 0;
    const watched: readonly JsonObject[] = new Proxy([...items], {
      get(target, key) {
        reads++;
        return Reflect.get(target, key) as unknown;
      },
    });
    await catalog.put(big, { items: watched, ...rest });
    expect(reads).toBeGreaterThan(50);
    reads = 0;
    mind.isTrusted = false;
    catalog.reconsider('big');
    expect(reads).toBe(0);
  });

  it('SEC-9 a decision that falls while a server is put in, even for the first time, is in force when it is there', async () => {
    for (const isFirst of [true, false]) {
      const mind = createMind();
      const catalog = createCatalog(config, servers, undefined, mind.approvals);
      if (!isFirst) await catalog.put(big, listOf(3));
      const putting = catalog.put(big, listOf(200));
      await nextTurn();
      mind.isTrusted = false;
      catalog.reconsider('big');
      await putting;
      expect(catalog.index.tools('big')).toHaveLength(200);
      expect(statuses(catalog).toSorted()).toEqual(['disabled', 'quarantined']);
    }
  });

  it('SEC-9 what a server calls itself is searched only as long as it is trusted', async () => {
    const mind = createMind();
    const catalog = createCatalog(config, servers, undefined, mind.approvals);
    await catalog.put(big, listOf(20));
    const found = (): number => catalog.index.search('zanzibar').length;
    expect(found()).toBe(10);
    for (const isPresentable of [false, true]) {
      mind.isPresentable = isPresentable;
      catalog.reconsider('big');
      expect(catalog.isPresentable('big')).toBe(isPresentable);
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      expect(found()).toBe(isPresentable ? 10 : 0);
    }
  });

  it('FIND-7 a server is found by its package, whatever it is called', async () => {
    const named = resolveConfig(
      { servers: { work: { command: 'npx', args: ['-y', '@linear/mcp@1.0.0'] } } },
      { source: 'library', env: {} },
    );
    const catalog = createCatalog(named.config, named.servers, undefined, createMind().approvals);
    await catalog.put(named.servers[0]!, listOf(3));
    expect(catalog.index.search('linear')).toHaveLength(3);
  });

  it('SEC-9 a newer list on its way is not overtaken by words that follow a decision', async () => {
    const mind = createMind();
    const catalog = createCatalog(config, servers, undefined, mind.approvals);
    await catalog.put(big, listOf(20));
    const putting = catalog.put(big, listOf(120));
    await nextTurn();
    mind.isPresentable = false;
    catalog.reconsider('big');
    await putting;
    for (let turn = 0; turn < 20; turn++) await nextTurn();
    expect(catalog.index.tools('big')).toHaveLength(120);
    expect(catalog.list('big')!.items).toHaveLength(120);
    expect(catalog.index.search('zanzibar')).toEqual([]);
  });
});
