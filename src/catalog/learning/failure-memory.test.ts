import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { stdioServer } from '../../../test/support/test-server.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { silentLog } from '../../kernel/log.js';
import type { Remedy } from '../../kernel/remedy.js';
import { createMemoryStore } from '../../store/index.js';
import { createFailureMemory, type FailureMemory } from './failure-memory.js';

const server = stdioServer('a', { command: 'x' });
const clock = createFakeClock();

function open(store = createMemoryStore({ clock })) {
  const memory = (): FailureMemory => createFailureMemory({ store, clock, log: silentLog });
  return { store, memory };
}

function failure(remedy: Remedy) {
  const error = new ToolscoutError('AUTHENTICATION_FAILED', 'The sign-in has ended.', { remedy });
  return { error, at: clock.now(), times: 1 };
}

describe('stored failures', () => {
  it.each<Remedy>([
    { kind: 'sign-in', server: 'a', again: true },
    { kind: 'set-variables', names: ['A', 'B'] },
    {
      kind: 'steps',
      steps: [
        { kind: 'advice', text: 'Wait.' },
        { kind: 'diagnose', first: 'Try again' },
      ],
    },
    { kind: 'review', ref: undefined } as unknown as Remedy,
    { kind: 'none' },
  ])(
    'STUDIO-1 EXEC-3 the remedy $kind is the same after a restart: each front words it for its readers',
    async (remedy) => {
      const { memory } = open();
      const first = memory();
      first.note(server, failure(remedy));
      await first.settled();
      const find = await memory().load();
      expect(find(server)?.error.remedy).toEqual(remedy);
    },
  );

  it.each<[string, unknown]>([
    ['an older version stored only the words', undefined],
    ['a newer version may know other kinds', { kind: 'turn-it-off-and-on' }],
    ['a field is missing', { kind: 'sign-in' }],
    ['a field has another type', { kind: 'sign-in', server: 5 }],
    ['a step is unknown', { kind: 'steps', steps: [{ kind: 'future' }] }],
    ['it is no object', 'sign-in'],
    ['its kind is a name of every object', { kind: 'constructor' }],
  ])('EXEC-3 A23 %s: the stored words are the advice', async (_why, remedy) => {
    const { store, memory } = open();
    const first = memory();
    first.note(server, failure({ kind: 'sign-in', server: 'a' }));
    await first.settled();
    const [entry] = await store.list('failures');
    const { remedy: _dropped, ...old } = entry!.value as Record<string, never>;
    await store.put('failures', entry!.key, remedy === undefined ? old : { ...old, remedy: remedy as never });
    const find = await memory().load();
    expect(find(server)?.error.remedy).toEqual({ kind: 'advice', text: 'Sign in: toolscout auth login a' });
  });
});
