import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { createEmitter } from '../kernel/async/emitter.js';
import { ToolscoutError } from '../kernel/errors.js';
import { silentLog } from '../kernel/log.js';
import { createMemoryStore } from '../store/index.js';
import type { Store } from '../model/store.js';
import { createExperience, type ExperienceKeeper } from './experience.js';

interface Process {
  readonly keeper: ExperienceKeeper;
  /** Reads that reached the store since they were last asked for. */
  reads(): string[];
  /** The next reads fail. */
  isCut: boolean;
  /** Waits until it has taken over what others changed. */
  settle(): Promise<void>;
}

/** Processes over one store, each of which hears of the changes of the others. */
function processes(count: number): Process[] {
  const clock = createFakeClock();
  const shared = createMemoryStore({ clock });
  const emitters = Array.from({ length: count }, () => createEmitter<string>((thrown) => expect.fail(String(thrown))));
  return emitters.map((own) => {
    let seen: string[] = [];
    const reading = <Value>(what: string, value: () => Promise<Value>): Promise<Value> => {
      seen.push(what);
      return process.isCut ? Promise.reject(new ToolscoutError('STORE_ERROR', 'The store is away.')) : value();
    };
    const told = async <Value>(space: string, write: Promise<Value>): Promise<Value> => {
      const value = await write;
      for (const other of emitters) if (other !== own) other.emit(space);
      return value;
    };
    const store: Store = {
      ...shared,
      get: (space, key) => reading(`get ${key}`, () => shared.get(space, key)),
      revisions: (space) => reading('revisions', () => shared.revisions(space)),
      put: (space, ...rest) => told(space, shared.put(space, ...rest)),
      clear: (space) => told(space, shared.clear(space)),
      onChange: (listener) => own.on(listener),
    };
    const keeper = createExperience({ store, clock, log: silentLog, config: () => ({ usageMemory: true }) });
    const process: Process = {
      keeper,
      isCut: false,
      reads: () => seen.splice(0),
      settle: () => keeper.settled(),
    };
    return process;
  });
}

async function recalled({ keeper }: Process, principal: string): Promise<string> {
  const experience = await keeper.of(principal);
  return JSON.stringify([...(experience?.([{ term: 'letters', uses: 1 }], 1) ?? [])]);
}

async function succeed({ keeper }: Process, principal: string, address: string): Promise<void> {
  keeper.noteSearch(principal, ['letters'], [address]);
  keeper.noteSuccess(principal, address);
  await keeper.settled();
}

describe('what searches led to, in several processes', () => {
  it('STORE-3 FIND-2 a search reads nothing after the first of its principal, whatever other processes remember', async () => {
    const [one, two] = processes(2) as [Process, Process];
    for (const each of [one, two]) for (const principal of ['ann', 'bob']) await recalled(each, principal);
    one.reads();
    for (const address of ['mail:send', 'mail:read', 'mail:list']) {
      await succeed(two, 'ann', address);
      await one.settle();
      one.reads();
      expect(await recalled(one, 'ann')).toContain(address);
      expect(await recalled(one, 'bob')).toBe('[]');
      expect(one.reads()).toEqual([]);
    }
  });

  it('STORE-3 reads again only what another process changed', async () => {
    const [one, two] = processes(2) as [Process, Process];
    for (const principal of ['ann', 'bob', 'eve']) await recalled(one, principal);
    await succeed(two, 'ann', 'mail:send');
    await one.settle();
    one.reads();
    await succeed(two, 'ann', 'mail:read');
    await one.settle();
    expect(one.reads().filter((read) => read.startsWith('get of-'))).toHaveLength(1);
  });

  it('STORE-3 FIND-2 what one process forgets is forgotten in the others', async () => {
    const [one, two] = processes(2) as [Process, Process];
    await succeed(two, 'ann', 'mail:send');
    expect(await recalled(one, 'ann')).toContain('mail:send');
    await two.keeper.forget();
    await one.settle();
    expect(await recalled(one, 'ann')).toBe('[]');
    await succeed(one, 'ann', 'mail:read');
    await two.settle();
    expect(await recalled(two, 'ann')).toContain('mail:read');
    expect(await recalled(two, 'ann')).not.toContain('mail:send');
  });

  it('STORE-3 STORE-4 a change that could not be read is read by the next search', async () => {
    const [one, two] = processes(2) as [Process, Process];
    await recalled(one, 'ann');
    one.isCut = true;
    await succeed(two, 'ann', 'mail:send');
    await one.settle();
    expect(await recalled(one, 'ann')).toBe('[]');
    one.isCut = false;
    expect(await recalled(one, 'ann')).toContain('mail:send');
  });
});
