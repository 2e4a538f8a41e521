import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { describedTool } from '../../test/support/test-tool.js';
import { silentLog, type Log } from '../kernel/log.js';
import type { Store } from '../model/store.js';
import type { Encoded } from '../search/index.js';
import { createMemoryStore } from '../store/index.js';
import { createEncoding, type Embed, type Encoding } from './encoding.js';

const tools = [describedTool('a', 'ship', 'boat'), describedTool('a', 'bakeBread', 'oven')];

/** Two numbers: how much a text is about boats, and about bread. */
const byTopic: Embed = async (texts) =>
  texts.map((text) => [/ship|vessel/.test(text) ? 1 : 0, /bread|loaf/.test(text) ? 1 : 0.1]);

interface Setup {
  readonly encoding: Encoding;
  readonly asked: string[][];
  readonly warned: string[];
  readonly store: Store;
  readonly loads: () => number;
}

function setUp(
  embed: Embed = byTopic,
  options: { store?: Store; encoder?: () => string | undefined; id?: string; fails?: boolean } = {},
): Setup {
  const clock = createFakeClock();
  let loads = 0;
  const asked: string[][] = [];
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (_, fields) => void warned.push(String(fields?.['reason'])) };
  const store = options.store ?? createMemoryStore({ clock });
  const encoding = createEncoding({
    store,
    log,
    encoder: options.encoder ?? (() => 'some-encoder'),
    load: async () => {
      loads++;
      if (options.fails) throw new Error('not installed');
      return {
        id: options.id ?? 'some-encoder 1',
        embed: async (texts) => {
          asked.push([...texts]);
          return embed(texts);
        },
      };
    },
  });
  return { encoding, asked, warned, store, loads: () => loads };
}

const all = (): typeof tools => tools;

/** What is known of a query once the work in the background, which asking for it began, is done. */
async function known(encoding: Encoding, query: string): Promise<Encoded | undefined> {
  encoding.of(query, all);
  await encoding.settled();
  return encoding.of(query, all);
}

describe('a sentence encoder', () => {
  it('FIND-8 is asked for nothing unless the config names one', async () => {
    const { encoding, asked } = setUp(byTopic, { encoder: () => undefined });
    expect(await known(encoding, 'a vessel')).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('FIND-8 encodes tools in the background, and says how near they are from then on', async () => {
    const { encoding } = setUp();
    expect(encoding.of('a vessel', all)).toBeUndefined();
    await encoding.settled();
    const near = encoding.of('A  vessel', all);
    expect(near!(tools[0]!)).toBeGreaterThan(0.9);
    expect(near!(tools[1]!)).toBeLessThan(0.5);
  });

  it('FIND-8 a tool that came later is encoded when a search first meets it', async () => {
    const { encoding, asked } = setUp();
    const later = describedTool('b', 'steamship');
    expect((await known(encoding, 'a vessel'))!(later)).toBeUndefined();
    await encoding.settled();
    expect(encoding.of('a vessel', all)!(later)).toBeGreaterThan(0.9);
    expect(asked.at(-1)).toEqual(['steamship. ']);
  });

  it('FIND-8 the first search for something is answered without it, before the encoder computes anything', async () => {
    const { encoding, asked } = setUp();
    await known(encoding, 'a loaf');
    const before = asked.length;
    expect(encoding.of('a vessel', all)).toBeUndefined();
    expect(asked).toHaveLength(before);
    await encoding.settled();
    expect(asked.slice(before)).toEqual([['a vessel']]);
    expect(encoding.of('a vessel', all)).toBeDefined();
    expect(asked).toHaveLength(before + 1);
  });

  it('FIND-8 holds the vectors of queries in memory only, and not of any number', async () => {
    const { encoding, asked, store } = setUp();
    for (let i = 0; i < 520; i++) await known(encoding, `query ${i}`);
    expect((await store.list('encodings')).length).toBe(tools.length);
    const before = asked.length;
    expect(encoding.of('query 0', all)).toBeUndefined();
    expect(encoding.of('query 519', all)).toBeDefined();
    await encoding.settled();
    expect(asked).toHaveLength(before + 1);
  });

  it('FIND-8 a second process finds the vectors in the store, and one with another encoder makes its own', async () => {
    const first = setUp();
    await known(first.encoding, 'x');
    expect(first.asked).toEqual([['x'], ['ship. boat', 'bake Bread. oven']]);
    const second = setUp(byTopic, { store: first.store });
    await known(second.encoding, 'x');
    expect(second.asked).toEqual([['x']]);
    const other = setUp(byTopic, { store: first.store, id: 'some-encoder 2' });
    await known(other.encoding, 'x');
    expect(other.asked).toHaveLength(2);
  });

  it('FIND-8 what the store holds is not believed when it cannot be a vector', async () => {
    const { encoding, store } = setUp();
    await known(encoding, 'x');
    const [entry] = await store.list('encodings');
    await store.put('encodings', entry!.key, { not: 'a vector' });
    const again = setUp(byTopic, { store });
    await known(again.encoding, 'x');
    expect(again.asked.slice(1).flat()).toHaveLength(1);
  });

  it('FIND-8 a search does not wait for an encoder that hangs, and is helped by what was known before', async () => {
    let hangs = false;
    const { encoding } = setUp(async (texts) => (hangs ? new Promise(() => undefined) : byTopic(texts)));
    await known(encoding, 'a loaf');
    hangs = true;
    for (let i = 0; i < 100; i++) expect(encoding.of(`vessel ${i}`, all)).toBeUndefined();
    expect(encoding.of('a loaf', all)!(tools[1]!)).toBeGreaterThan(0.9);
  });

  it.each<[string, Embed]>([
    ['throws', async () => Promise.reject(new Error('out of memory'))],
    ['gives too few vectors', async () => []],
    ['gives words', async (texts) => texts.map(() => ['a'] as unknown as number[])],
    ['gives no end of numbers', async (texts) => texts.map(() => new Float32Array(5000))],
    ['gives what is no number', async (texts) => texts.map(() => [Number.NaN])],
  ])('FIND-8 an encoder that %s is said, and done without', async (_, embed) => {
    const { encoding, warned } = setUp(embed);
    expect(await known(encoding, 'x')).toBeUndefined();
    // Once for the query, once for the tools; then it is not asked any more.
    expect(warned).toHaveLength(2);
    expect(await known(encoding, 'y')).toBeUndefined();
    expect(warned).toHaveLength(2);
  });

  it('FIND-8 an encoder that cannot be loaded is said once, and done without', async () => {
    const { encoding, warned, loads } = setUp(byTopic, { fails: true });
    expect(await known(encoding, 'x')).toBeUndefined();
    expect(await known(encoding, 'x')).toBeUndefined();
    expect(warned).toEqual(['not installed']);
    expect(loads()).toBe(1);
  });

  it('FIND-8 an encoder that fails for a query leaves that search without it', async () => {
    const { encoding, warned } = setUp(async (texts) => {
      if (texts.includes('poison')) throw new Error('no');
      return byTopic(texts);
    });
    await known(encoding, 'x');
    expect(await known(encoding, 'poison')).toBeUndefined();
    expect(warned).toEqual(['no']);
    expect(await known(encoding, 'a vessel')).toBeDefined();
  });

  it('FIND-8 vectors of another length, and of nothing but zeros, are not compared', async () => {
    let length = 2;
    const { encoding } = setUp(async (texts) => texts.map(() => Array.from({ length }, () => 0)));
    expect((await known(encoding, 'x'))!(tools[0]!)).toBe(0);
    length = 3;
    expect((await known(encoding, 'y'))!(tools[0]!)).toBeUndefined();
  });

  it('FIND-8 another encoder in the config takes the place of the first, even while that one works', async () => {
    let name = 'first';
    const { encoding } = setUp(byTopic, { encoder: () => name });
    await known(encoding, 'x');
    encoding.of('another', all);
    name = 'second';
    expect(encoding.of('x', all)).toBeUndefined();
    await encoding.settled();
    expect(encoding.of('x', all)).toBeDefined();
  });

  it('FIND-8 of a catalog beyond the bound only those tools are encoded that a search meets', async () => {
    const { encoding, asked } = setUp();
    const many = Array.from({ length: 20_001 }, (_, i) => describedTool('a', `ship${i}`));
    encoding.of('a vessel', () => many);
    await encoding.settled();
    expect(asked).toEqual([['a vessel']]);
    expect(encoding.of('a vessel', () => many)!(many[7]!)).toBeUndefined();
    await encoding.settled();
    expect(asked).toHaveLength(2);
  });
});
