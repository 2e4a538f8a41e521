import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { describedTool } from '../../test/support/test-tool.js';
import { silentLog, type Log } from '../kernel/log.js';
import type { Store } from '../model/store.js';
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
}

function setUp(
  embed: Embed = byTopic,
  options: { store?: Store; encoder?: () => string | undefined; id?: string } = {},
): Setup {
  const clock = createFakeClock();
  const asked: string[][] = [];
  const warned: string[] = [];
  const log: Log = { ...silentLog, warn: (_, fields) => void warned.push(String(fields?.['reason'])) };
  const store = options.store ?? createMemoryStore({ clock });
  const encoding = createEncoding({
    store,
    clock,
    log,
    encoder: options.encoder ?? (() => 'some-encoder'),
    load: async () => ({
      id: options.id ?? 'some-encoder 1',
      embed: async (texts) => {
        asked.push([...texts]);
        return embed(texts);
      },
    }),
  });
  return { encoding, asked, warned, store };
}

const all = (): typeof tools => tools;

describe('a sentence encoder', () => {
  it('FIND-8 is asked for nothing unless the config names one', async () => {
    const { encoding, asked } = setUp(byTopic, { encoder: () => undefined });
    expect(await encoding.of('a vessel', all)).toBeUndefined();
    await encoding.settled();
    expect(asked).toEqual([]);
  });

  it('FIND-8 encodes tools in the background, and says how near they are from then on', async () => {
    const { encoding } = setUp();
    expect(await encoding.of('a vessel', all)).toBeUndefined();
    await encoding.settled();
    const near = await encoding.of('a vessel', all);
    expect(near!(tools[0]!)).toBeGreaterThan(0.9);
    expect(near!(tools[1]!)).toBeLessThan(0.5);
    expect(near!(describedTool('a', 'unknown'))).toBeUndefined();
  });

  it('FIND-8 a second process finds the vectors in the store, and one with another encoder makes its own', async () => {
    const first = setUp();
    await first.encoding.of('x', all);
    await first.encoding.settled();
    expect(first.asked).toEqual([['ship. boat', 'bake Bread. oven']]);
    const second = setUp(byTopic, { store: first.store });
    await second.encoding.of('x', all);
    await second.encoding.settled();
    expect(second.asked).toEqual([]);
    const other = setUp(byTopic, { store: first.store, id: 'some-encoder 2' });
    await other.encoding.of('x', all);
    await other.encoding.settled();
    expect(other.asked).toHaveLength(1);
  });

  it('FIND-8 what the store holds is not believed when it cannot be a vector', async () => {
    const { encoding, asked, store } = setUp();
    await encoding.of('x', all);
    await encoding.settled();
    const [entry] = await store.list('encodings');
    await store.put('encodings', entry!.key, { not: 'a vector' });
    const again = setUp(byTopic, { store });
    await again.encoding.of('x', all);
    await again.encoding.settled();
    expect(again.asked.flat()).toHaveLength(1);
    expect(asked.flat()).toHaveLength(2);
  });

  it('FIND-8 a search does not wait for an encoder that hangs', async () => {
    let hangs = false;
    const clock = createFakeClock();
    const encoding = createEncoding({
      store: createMemoryStore({ clock }),
      clock,
      log: silentLog,
      encoder: () => 'e',
      load: async () => ({ id: 'e', embed: (texts) => (hangs ? new Promise(() => undefined) : byTopic(texts)) }),
    });
    await encoding.of('x', all);
    await encoding.settled();
    hangs = true;
    const waiting = encoding.of('a vessel', all);
    await clock.advance(50);
    expect(await waiting).toBeUndefined();
  });

  it.each<[string, Embed]>([
    ['throws', async () => Promise.reject(new Error('out of memory'))],
    ['gives too few vectors', async () => []],
    ['gives words', async (texts) => texts.map(() => ['a'] as unknown as number[])],
    ['gives no end of numbers', async (texts) => texts.map(() => new Float32Array(5000))],
    ['gives what is no number', async (texts) => texts.map(() => [Number.NaN])],
  ])('FIND-8 an encoder that %s is said, and done without', async (_, embed) => {
    const { encoding, warned } = setUp(embed);
    await encoding.of('x', all);
    await encoding.settled();
    expect(warned).toHaveLength(1);
    expect(await encoding.of('x', all)).toBeUndefined();
  });

  it('FIND-8 an encoder that fails for a query leaves that search without it', async () => {
    const { encoding, warned } = setUp(async (texts) => {
      if (texts.includes('poison')) throw new Error('no');
      return byTopic(texts);
    });
    await encoding.of('x', all);
    await encoding.settled();
    expect(await encoding.of('poison', all)).toBeUndefined();
    expect(warned).toEqual(['no']);
    expect(await encoding.of('a vessel', all)).toBeDefined();
  });

  it('FIND-8 vectors of another length, and of nothing but zeros, are not compared', async () => {
    let length = 2;
    const { encoding } = setUp(async (texts) => texts.map(() => Array.from({ length }, () => 0)));
    await encoding.of('x', all);
    await encoding.settled();
    expect((await encoding.of('x', all))!(tools[0]!)).toBe(0);
    length = 3;
    expect((await encoding.of('x', all))!(tools[0]!)).toBeUndefined();
  });

  it('FIND-8 another encoder in the config takes the place of the first', async () => {
    let name = 'first';
    const { encoding, asked } = setUp(byTopic, { encoder: () => name });
    await encoding.of('x', all);
    await encoding.settled();
    name = 'second';
    expect(await encoding.of('x', all)).toBeUndefined();
    await encoding.settled();
    expect(await encoding.of('a vessel', all)).toBeDefined();
    expect(asked.length).toBeGreaterThan(1);
  });
});
