import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import type { Log } from '../kernel/log.js';
import { createMemoryStore } from '../store/index.js';
import { openAskingMemory } from './asking-memory.js';

function setUp() {
  const logged: string[] = [];
  const note = (event: string): void => void logged.push(event);
  const log: Log = { debug: note, info: note, warn: note, error: note };
  return { store: createMemoryStore({ clock: createFakeClock() }), log, logged };
}

const one = stdioServer('one', { command: 'node' });

describe('the memory of servers that ask', () => {
  it('STORE-6 is there for the next process, and identifies a server by its launch', async () => {
    const { store, log, logged } = setUp();
    const memory = await openAskingMemory(store, log);
    expect(memory.has(one)).toBe(false);
    memory.note(one);
    memory.note(one);
    expect(memory.has(one)).toBe(true);
    await expect.poll(async () => store.list('asking')).toMatchObject([{ value: true, revision: 1 }]);
    const next = await openAskingMemory(store, log);
    expect(next.has(one)).toBe(true);
    expect(next.has({ ...one, digest: 'another launch' })).toBe(false);
    expect(next.has(stdioServer('two', { command: 'node' }))).toBe(false);
    expect(logged).toEqual([]);
  });

  it('STORE-6 goes on without a store that fails, and says so', async () => {
    const { store, log, logged } = setUp();
    await store.close();
    const memory = await openAskingMemory(store, log);
    expect(logged).toEqual(['asking.unreadable']);
    memory.note(one);
    expect(memory.has(one)).toBe(true);
    await expect.poll(() => logged).toEqual(['asking.unreadable', 'asking.unsaved']);
  });

  it('STORE-6 META-6 keeps the era in which a server cannot ask, beside what is known of it', async () => {
    const { store, log } = setUp();
    const [two, three] = [stdioServer('two', { command: 'node' }), stdioServer('three', { command: 'node' })];
    const memory = await openAskingMemory(store, log);
    expect(memory.unable(one)).toBeUndefined();
    memory.note(one);
    memory.noteUnable(two, 'modern');
    memory.noteUnable(three, 'modern');
    memory.note(three);
    memory.noteUnable(three, 'legacy');
    for (const each of [memory, await openAskingMemory(store, log)]) {
      expect([one, two, three].map((server) => [each.has(server), each.unable(server)])).toEqual([
        [true, undefined],
        [false, 'modern'],
        [true, 'legacy'],
      ]);
    }
  });
});
