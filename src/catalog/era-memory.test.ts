import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import type { EraDecision } from '../connect/index.js';
import type { Log } from '../kernel/log.js';
import { createMemoryStore } from '../store/index.js';
import { createEraMemory } from './era-memory.js';

const server = stdioServer('a', { command: 'x' });
const verdict = { kind: 'legacy', decidedAt: 5 } as unknown as EraDecision;

function recorder(): { log: Log; events: string[] } {
  const events: string[] = [];
  const note = (event: string): void => void events.push(event);
  return { log: { debug: note, info: note, warn: note, error: note }, events };
}

describe('the memory of verdicts', () => {
  it('CONN-1 a verdict is recalled for the same server and credential, and for no other', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    const memory = createEraMemory(store, recorder().log);
    expect(await memory.recall(server)).toBeUndefined();
    await memory.remember(server, verdict);
    expect(await memory.recall(server)).toEqual(verdict);
    expect(await createEraMemory(store, recorder().log).recall(server)).toEqual(verdict);
    expect(await memory.recall({ ...server, digest: 'another credential' })).toBeUndefined();
    expect(await memory.recall({ ...server, id: 'b' })).toBeUndefined();
  });

  it.each([
    [null],
    ['text'],
    [{}],
    [{ kind: 'legacy' }],
    [{ kind: 'future', decidedAt: 1 }],
    [{ kind: 'modern', decidedAt: 1, discover: 'text' }],
    [{ kind: 'legacy', decidedAt: 1, transport: 'pigeon' }],
  ])('A23 what is no verdict is a miss: %j', async (value) => {
    const store = createMemoryStore({ clock: createFakeClock() });
    await createEraMemory(store, recorder().log).remember(server, verdict);
    const [entry] = await store.list('verdicts');
    await store.put('verdicts', entry!.key, value);
    expect(await createEraMemory(store, recorder().log).recall(server)).toBeUndefined();
  });

  it('R9 a store that fails costs a probe, nothing else, and is logged', async () => {
    const broken = {
      ...createMemoryStore({ clock: createFakeClock() }),
      get: () => Promise.reject(new Error('disk on fire')),
      put: () => Promise.reject(new Error('disk on fire')),
    };
    const { log, events } = recorder();
    const memory = createEraMemory(broken, log);
    expect(await memory.recall(server)).toBeUndefined();
    await expect(memory.remember(server, verdict)).resolves.toBeUndefined();
    expect(events).toEqual(['verdict.unreadable', 'verdict.unsaved']);
  });
});
