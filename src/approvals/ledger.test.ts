import { describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../test/support/fake-clock.js';
import { createLog, silentLog, type Log } from '../kernel/log.js';
import { DOUBT_KEY, STORE_SPACE, type Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createLedger, readDoubt, type Change, type ChangedServers, type Ledger } from './ledger.js';
import { encodeRecord, recordKey, type TrustRecord } from './record.js';

const SPACE = 'approvals';

const blankOf = (server: string): TrustRecord => ({
  version: 0,
  server,
  launch: 'L',
  origin: 'user',
  target: server,
  start: {},
  presentation: {},
  tools: new Map(),
  past: [],
});
const NOTES = blankOf('notes');
const KEY = recordKey(NOTES);

const trusting =
  (...names: string[]): Change =>
  (record) => ({ ...record, tools: new Map([...record.tools, ...names.map((name) => [name, {}] as const)]) });
const toolsOf = (ledger: Ledger, key = KEY): string[] => [...(ledger.get(key).record?.tools.keys() ?? [])];
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

interface Bench {
  readonly ledger: Ledger;
  readonly store: Store;
  readonly clock: FakeClock;
  /** Says that another process changed a space, and waits for what follows. */
  tell(space: string): Promise<void>;
  readonly heard: Array<string[] | 'all'>;
  readonly logged: string[];
  readonly flags: string[];
}

async function open(
  store: Store = createMemoryStore({ clock: createFakeClock() }),
  part: Partial<Store> = {},
): Promise<Bench> {
  const clock = createFakeClock();
  const logged: string[] = [];
  const flags: string[] = [];
  const heard: Array<string[] | 'all'> = [];
  const listeners = new Set<(space: string) => void>();
  const log: Log = createLog({ level: 'debug', now: () => 0, write: (line) => void logged.push(line) });
  const ledger = createLedger({
    store: {
      ...store,
      onChange(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      ...part,
    },
    clock,
    log,
    flag: { raise: () => void flags.push('raise'), lower: () => void flags.push('lower') },
  });
  await ledger.load();
  ledger.onChange((servers: ChangedServers) => heard.push(servers === 'all' ? servers : [...servers]));
  const tell = async (space: string): Promise<void> => {
    for (const listener of listeners) listener(space);
    await settled();
  };
  return { ledger, store, clock, tell, heard, logged, flags };
}

describe('what is known while the store is read', () => {
  it('A40 A48 a store that was accepted is read before anything known is given up', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    await (await open(store)).ledger.change(NOTES, KEY, trusting('read'));
    await store.put(STORE_SPACE, DOUBT_KEY, { reason: 'replaced' });
    let release = (): void => {};
    let isSlow = false;
    const { ledger, tell, heard } = await open(store, {
      async list(space) {
        if (isSlow) await new Promise<void>((resolve) => (release = resolve));
        return store.list(space);
      },
    });
    isSlow = true;
    await store.delete(STORE_SPACE, DOUBT_KEY);
    await tell(STORE_SPACE);
    // A record that is missing for a moment would count as a first use.
    expect(toolsOf(ledger)).toEqual(['read']);
    expect(ledger.doubt()).toMatchObject({ reason: 'replaced' });
    release();
    await settled();
    expect(ledger.doubt()).toBeUndefined();
    expect(heard).toEqual(['all']);
  });

  it('A40 A48 a store that cannot be read leaves what is known, and a new doubt holds at once', async () => {
    const store = createMemoryStore({ clock: createFakeClock() });
    await (await open(store)).ledger.change(NOTES, KEY, trusting('read'));
    let isBroken = false;
    const { ledger, tell, heard, logged } = await open(store, {
      list: (space) => (isBroken ? Promise.reject(new Error('disk gone')) : store.list(space)),
    });
    isBroken = true;
    await store.put(STORE_SPACE, DOUBT_KEY, { reason: 'vanished' });
    await tell(STORE_SPACE);
    expect(ledger.doubt()).toMatchObject({ reason: 'vanished' });
    expect(toolsOf(ledger)).toEqual(['read']);
    expect(logged.join('')).toContain('approvals.unread');
    // Once it can be read again, what was known of the store before does not count.
    isBroken = false;
    await store.clear(SPACE);
    await tell(SPACE);
    expect([toolsOf(ledger), heard]).toEqual([[], ['all']]);
  });

  it('A48 a record that is deleted under a running process is lost, not a first use', async () => {
    const { ledger, store } = await open();
    await ledger.change(NOTES, KEY, trusting('read'));
    await store.delete(SPACE, KEY);
    let careful: boolean | undefined;
    await ledger.change(
      NOTES,
      KEY,
      (record, isCareful) => ((careful = isCareful), trusting('send')(record, isCareful)),
    );
    expect(careful).toBe(true);
    expect(toolsOf(ledger)).toEqual(['send']);
  });
});

describe('why a store is not trusted', () => {
  it('A48 a doubt says its reason; one that cannot be read is one all the same', async () => {
    const store = createMemoryStore({ clock: createFakeClock(7) });
    expect(await readDoubt(store)).toBeUndefined();
    for (const [value, reason] of [
      [{ reason: 'rolled-back' }, 'rolled-back'],
      [{ reason: 'toString' }, 'damaged'],
      [{ reason: 5 }, 'damaged'],
      [{}, 'damaged'],
      [null, 'damaged'],
    ] as const) {
      await store.put(STORE_SPACE, DOUBT_KEY, value);
      expect(await readDoubt(store)).toEqual({ reason, at: 7 });
    }
  });

  it('A48 accepting answers what was in doubt, whatever this process knew of it', async () => {
    const { ledger, store } = await open();
    expect(await ledger.accept()).toBeUndefined();
    await store.put(STORE_SPACE, DOUBT_KEY, { reason: 'replaced' });
    expect(await ledger.accept()).toMatchObject({ reason: 'replaced' });
    expect([ledger.doubt(), await readDoubt(store)]).toEqual([undefined, undefined]);
  });
});

describe('reading', () => {
  it('SEC-9 what is stored is read once, and again after a failure', async () => {
    let reads = 0;
    let isBroken = true;
    const store = createMemoryStore({ clock: createFakeClock() });
    const list: Store['list'] = (space) => {
      reads += 1;
      return isBroken ? Promise.reject(new Error('busy')) : store.list(space);
    };
    const ledger = createLedger({ store: { ...store, list }, clock: createFakeClock(), log: silentLog });
    expect(ledger.get(KEY)).toEqual({ unreadable: 'unread' });
    await expect(Promise.all([ledger.load(), ledger.load()])).rejects.toThrow('busy');
    expect([reads, ledger.get(KEY)]).toEqual([1, { unreadable: 'unread' }]);
    isBroken = false;
    await Promise.all([ledger.load(), ledger.load()]);
    await ledger.load();
    expect([reads, ledger.get(KEY)]).toEqual([2, {}]);
  });

  it('A40 a change of another process is heard of by server; other spaces and older states are not', async () => {
    const { ledger, store, tell, heard, logged } = await open();
    const written = await ledger.change(NOTES, KEY, trusting('read'));
    await tell('tools');
    await tell(SPACE);
    expect(heard).toEqual([]);
    await store.put(SPACE, KEY, encodeRecord({ ...trusting('old')(NOTES, false), version: written.version }));
    await tell(SPACE);
    expect([toolsOf(ledger), heard]).toEqual([['read'], []]);
    await store.put(SPACE, KEY, encodeRecord({ ...trusting('new')(NOTES, false), version: written.version + 1 }));
    await tell(SPACE);
    expect([toolsOf(ledger), heard]).toEqual([['new'], [['notes']]]);
    await store.put(SPACE, KEY, 'garbage');
    await tell(SPACE);
    expect([ledger.get(KEY), heard]).toEqual([{ unreadable: 'damaged' }, [['notes'], ['notes']]]);
    expect(logged.filter((line) => line.includes('approvals.unreadable'))).toHaveLength(1);
  });

  it('SEC-9 a change of another space is no reason to read', async () => {
    const memory = createMemoryStore({ clock: createFakeClock() });
    let reads = 0;
    const { tell } = await open(memory, { list: (space) => ((reads += 1), memory.list(space)) });
    for (const space of ['tools', SPACE, 'audit', STORE_SPACE]) await tell(space);
    expect(reads).toBe(3);
  });

  it('A48 a record under the key of another server is damage to both, and does not replace one that is known', async () => {
    const other = blankOf('other');
    const { ledger, store, tell, heard, logged } = await open();
    await ledger.change(other, recordKey(other), trusting('read'));
    await store.put(SPACE, KEY, encodeRecord({ ...trusting('forged')(other, false), version: 9 }));
    await tell(SPACE);
    expect(ledger.get(KEY)).toEqual({ unreadable: 'damaged' });
    expect(toolsOf(ledger, recordKey(other))).toEqual(['read']);
    expect(heard).toEqual([['other']]);
    expect(logged.join('')).toContain('misplaced');
  });

  it('SEC-9 nothing is heard after the ledger is closed, or after a listener stopped', async () => {
    const { ledger, store, tell, heard } = await open();
    const more: unknown[] = [];
    const stop = ledger.onChange((servers) => more.push(servers));
    stop();
    await store.put(SPACE, KEY, encodeRecord({ ...NOTES, version: 1 }));
    await tell(SPACE);
    expect([heard, more]).toEqual([[['notes']], []]);
    ledger.close();
    await store.put(SPACE, KEY, encodeRecord({ ...NOTES, version: 2 }));
    await tell(SPACE);
    expect(heard).toHaveLength(1);
  });
});

describe('writing', () => {
  it('SEC-9 a change that changes nothing writes nothing; every other raises the version', async () => {
    let writes = 0;
    const memory = createMemoryStore({ clock: createFakeClock() });
    const { ledger } = await open(memory, { put: (...args) => ((writes += 1), memory.put(...args)) });
    const first = await ledger.change(NOTES, KEY, trusting('read'));
    const same = await ledger.change(NOTES, KEY, (record) => record);
    expect([first.version, same, writes]).toEqual([1, first, 1]);
    expect((await ledger.change(NOTES, KEY, trusting('send'))).version).toBe(2);
    expect(toolsOf(ledger)).toEqual(['read', 'send']);
  });

  it('A40 a writer that is overtaken applies its change to what the other wrote', async () => {
    const memory = createMemoryStore({ clock: createFakeClock() });
    let overtakes = 3;
    const { ledger } = await open(memory, {
      async put(...args) {
        if (overtakes-- > 0) {
          const entry = await memory.get(SPACE, KEY);
          const record = trusting(`other${overtakes}`)({ ...NOTES, version: entry?.revision ?? 0 }, false);
          await memory.put(SPACE, KEY, encodeRecord(record));
        }
        return memory.put(...args);
      },
    });
    await ledger.change(NOTES, KEY, trusting('mine'));
    expect(toolsOf(ledger)).toEqual(['other0', 'mine']);
  });

  it('A40 it gives up after a hundred writers came in between', async () => {
    let attempts = 0;
    const { ledger } = await open(undefined, { put: async () => ((attempts += 1), false) });
    await expect(ledger.change(NOTES, KEY, trusting('read'))).rejects.toMatchObject({ code: 'STORE_ERROR' });
    expect(attempts).toBe(100);
  });

  it('A23 R20 a record of a newer version is not overwritten, and a damaged one makes careful', async () => {
    const { ledger, store } = await open();
    const newer = { ...encodeRecord(NOTES), format: 2 };
    await store.put(SPACE, KEY, newer);
    await expect(ledger.change(NOTES, KEY, trusting('read'))).rejects.toMatchObject({
      code: 'STORE_ERROR',
      suggestion: 'Update toolscout, or use another store.',
    });
    expect((await store.get(SPACE, KEY))?.value).toEqual(newer);
    await store.put(SPACE, KEY, 'garbage');
    const given: boolean[] = [];
    const note: Change = (record, careful) => (given.push(careful), trusting('read')(record, careful));
    await ledger.change(NOTES, KEY, note);
    await ledger.change(NOTES, KEY, note);
    expect(given).toEqual([true, false]);
  });
});

describe('what could not be stored', () => {
  async function full(): Promise<Bench & { free(): void }> {
    const memory = createMemoryStore({ clock: createFakeClock() });
    let isFull = true;
    const put: Store['put'] = (...args) => (isFull ? Promise.reject(new Error('disk full')) : memory.put(...args));
    return { ...(await open(memory, { put })), free: () => void (isFull = false) };
  }

  it('A40 holds at once, together with what waits already, and is stored every two seconds from then on', async () => {
    const { ledger, store, clock, flags, logged, free } = await full();
    let prepared = 0;
    const before = async (): Promise<void> => void (prepared += 1);
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('a'), before });
    expect([...ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('b'), before }).tools.keys()]).toEqual([
      'a',
      'b',
    ]);
    expect([toolsOf(ledger), ledger.get(KEY).isUnsaved, flags]).toEqual([['a', 'b'], true, ['raise', 'raise']]);
    expect(clock.waiting).toBe(1);
    await clock.advance(1999);
    expect(prepared).toBe(0);
    await clock.advance(1);
    expect([prepared, clock.waiting, flags.includes('lower')]).toEqual([1, 1, false]);
    expect(logged.join('')).toContain('approvals.still-unsaved');
    free();
    await clock.advance(2000);
    expect([prepared, clock.waiting, flags.at(-1)]).toEqual([2, 0, 'lower']);
    expect([toolsOf(ledger), ledger.get(KEY).isUnsaved]).toEqual([['a', 'b'], undefined]);
    expect(toolsOf((await open(store)).ledger)).toEqual(['a', 'b']);
  });

  it('A40 is applied to what others store meanwhile, and to whatever this process decides next', async () => {
    const { ledger, store, tell, heard, clock, free } = await full();
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('mine') });
    await store.put(SPACE, KEY, encodeRecord({ ...trusting('theirs')(NOTES, false), version: 4 }));
    await tell(SPACE);
    expect([toolsOf(ledger), ledger.get(KEY).isUnsaved]).toEqual([['theirs', 'mine'], true]);
    expect(heard).toEqual([['notes']]);
    free();
    await ledger.change(NOTES, KEY, trusting('next'));
    expect([toolsOf(ledger), ledger.get(KEY).isUnsaved]).toEqual([['theirs', 'mine', 'next'], undefined]);
    await clock.advance(2000);
    expect(toolsOf((await open(store)).ledger)).toEqual(['theirs', 'mine', 'next']);
  });

  it('A40 A48 stays in force when another store takes the place of the one before', async () => {
    const { ledger, store, tell } = await full();
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('held') });
    await store.put(STORE_SPACE, DOUBT_KEY, { reason: 'replaced' });
    await tell(STORE_SPACE);
    expect([toolsOf(ledger), ledger.get(KEY).isUnsaved]).toEqual([['held'], true]);
  });

  it('A23 a change over a damaged record is careful, and a first use that could not be stored is not', async () => {
    const { ledger, store, tell, clock, free } = await full();
    const given: boolean[] = [];
    const note: Change = (record, careful) => (given.push(careful), trusting('x')(record, careful));
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: note });
    free();
    await clock.advance(2000);
    expect(given).toEqual([false, false]);
    await store.put(SPACE, KEY, 'garbage');
    await tell(SPACE);
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: note });
    expect(given.at(-1)).toBe(true);
  });

  it('A48 a record that is deleted while a change of it waits is lost all the same', async () => {
    const { ledger, store } = await open();
    await ledger.change(NOTES, KEY, trusting('read'));
    const given: boolean[] = [];
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('held') });
    await store.delete(SPACE, KEY);
    const note: Change = (record, careful) => (given.push(careful), trusting('x')(record, careful));
    await ledger.change(NOTES, KEY, note);
    expect([given, toolsOf(ledger), ledger.get(KEY).isUnsaved]).toEqual([[true], ['held', 'x'], undefined]);
  });

  it('A40 is not tried any more once the ledger is closed', async () => {
    const { ledger, clock } = await full();
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('a') });
    ledger.close();
    expect(clock.waiting).toBe(0);
    ledger.holdUnsaved(KEY, { blank: NOTES, apply: trusting('b') });
    expect(clock.waiting).toBe(0);
  });
});
