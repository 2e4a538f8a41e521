import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { hashJson, sha256 } from '../kernel/hash.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Entry, Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createApprovals, type Approvals } from './approvals.js';
import { EXPIRES_AFTER_MS, type Seen } from './decide.js';
import { launchOf } from './fingerprint.js';
import { recordKey } from './record.js';

const notes = stdioServer('notes', { command: 'notes-mcp' });
const project = stdioServer('db', { command: 'npx', args: ['-c', 'x'.repeat(500)] }, { scope: 'project' });

const seen = (description: string, instructions?: string): Seen => {
  const definition: JsonObject = { name: 'read', description };
  const tools = [{ name: 'read', hash: hashJson(definition), definition, categories: [] }];
  return { tools, ...(instructions === undefined ? {} : { instructions }) };
};
const READ = { about: 'tool', tool: 'read' } as const;
const FRESH = { policy: 'trust-first', fresh: true } as const;
const ruling = { by: 'ann', at: createFakeClock().now() };

const statusOf = (approvals: Approvals, description: string, server: Server = notes): string =>
  approvals.judge(server, {}, 'trust-first').judge(seen(description).tools[0]!).status;

async function open(store: Store, clock = createFakeClock()): Promise<Approvals> {
  const approvals = createApprovals({ store, clock, log: silentLog });
  await approvals.load();
  return approvals;
}
const memory = (): Store => createMemoryStore({ clock: createFakeClock() });

/** What a record would be that another program wrote in our format. */
function forged(more: JsonObject): JsonObject {
  const { id: server } = notes;
  const launch = launchOf(notes);
  const body = JSON.stringify({ version: 9, server, launch, origin: 'user', target: '', start: {}, ...more });
  return { format: 1, sum: sha256(body), body };
}

const keyOf = (server: Server): string => recordKey({ server: server.id, launch: launchOf(server) });

describe('approvals', () => {
  it('A12 A40 a pin outlives the process; the quarantine too, also where the old definition is still in memory', async () => {
    const store = memory();
    const first = await open(store);
    expect(await first.admit(notes, seen('good'), FRESH)).toEqual([]);
    const second = await open(store);
    const asked = await second.admit(notes, seen('bad'), FRESH);
    expect(asked).toMatchObject([{ ref: 'notes:read', state: 'pending', changed: ['description'] }]);
    const third = await open(store);
    expect([statusOf(third, 'good'), statusOf(third, 'bad')]).toEqual(['quarantined', 'quarantined']);
    expect(await third.admit(notes, seen('bad'), FRESH)).toEqual([]);
    // An old list, from a cache, takes no request back; the server itself does.
    await third.admit(notes, seen('good'), { ...FRESH, fresh: false });
    expect(statusOf(third, 'good')).toBe('quarantined');
    await third.admit(notes, seen('good'), FRESH);
    expect(statusOf(third, 'good')).toBe('enabled');
  });

  it('SEC-9 before it has read what is trusted it trusts nothing', () => {
    const approvals = createApprovals({ store: memory(), clock: createFakeClock(), log: silentLog });
    expect(statusOf(approvals, 'good')).toBe('pending');
    expect(approvals.hold(project, 'trust-first')).toBeDefined();
  });

  it('A40 the same for the description of a server: changed instructions hold in a process with the old ones', async () => {
    const store = memory();
    await (await open(store)).admit(notes, seen('good', 'Be kind.'), FRESH);
    await (await open(store)).admit(notes, seen('good', 'Be quick.'), FRESH);
    const after = await open(store);
    const { isPresentable } = after.judge(notes, { instructions: 'Be kind.' }, 'trust-first');
    expect(isPresentable).toBe(false);
  });

  it('A12 A40 two processes that see different things at once: neither is believed until the server or a person decides', async () => {
    const store = memory();
    const [one, two] = [await open(store), await open(store)];
    await Promise.all([one.admit(notes, seen('a'), FRESH), two.admit(notes, seen('b'), FRESH)]);
    const after = await open(store);
    const statuses = ['a', 'b'].map((each) => statusOf(after, each)).toSorted();
    expect(statuses).toEqual(['quarantined', 'quarantined']);
    // The process that lost the race sees it at once, the other one on the next change event.
    expect([statusOf(one, 'a'), statusOf(two, 'b')]).toContain('quarantined');
  });

  it('SEC-9 many processes that decide at once lose nothing', async () => {
    const store = memory();
    const definitions = Array.from({ length: 20 }, (_, at): JsonObject => ({ name: `t${at}` }));
    const tools = definitions.map((definition) => ({
      name: String(definition['name']),
      hash: hashJson(definition),
      definition,
      categories: [],
    }));
    await (await open(store)).admit(notes, { tools }, { policy: 'manual', fresh: true });
    const many = await Promise.all(tools.map(() => open(store)));
    await Promise.all(many.map((each, at) => each.approve(notes, [{ about: 'tool', tool: `t${at}` }], { ruling })));
    const listed = (await open(store)).list([notes]);
    expect(listed.filter(({ state }) => state === 'approved')).toHaveLength(20);
  });

  it('SEC-9 all or nothing: one subject that is not asked for leaves the others as they were', async () => {
    const approvals = await open(memory());
    await approvals.admit(notes, seen('good'), { policy: 'manual', fresh: true });
    const both = [READ, { about: 'tool', tool: 'nope' }] as const;
    await expect(approvals.approve(notes, both, { ruling })).rejects.toMatchObject({ code: 'NOTHING_FOUND' });
    expect(statusOf(approvals, 'good')).toBe('pending');
  });

  it('A2 S25 a server of a project is asked for once, whole, and for exactly this launch', async () => {
    const store = memory();
    const approvals = await open(store);
    const [asked] = await approvals.request([project, notes], 'trust-first');
    expect(asked).toMatchObject({ ref: 'db', about: 'launch', risk: { level: 'critical' }, hash: launchOf(project) });
    expect(asked?.target).toContain('x'.repeat(500));
    expect(await approvals.request([project, notes], 'trust-first')).toEqual([]);
    await approvals.approve(project, [{ about: 'launch' }], { ruling });
    const later = await open(store);
    expect(later.hold(project, 'trust-first')).toBeUndefined();
    const changed = stdioServer('db', { command: 'npx', args: ['-c', 'y'] }, { scope: 'project' });
    expect(later.hold(changed, 'trust-first')).toMatchObject({ state: 'pending' });
    expect(later.hold({ ...project, id: 'DB' }, 'trust-first')).toMatchObject({ state: 'pending' });
  });

  it('A22 ids that look alike have records of their own', async () => {
    const approvals = await open(memory());
    const ids = ['a/b', 'a_b', 'A', 'a', '__proto__', 'a\0b'];
    for (const id of ids) await approvals.admit({ ...notes, id }, seen(encodeURI(id)), FRESH);
    for (const id of ids) {
      for (const other of ids) {
        expect(statusOf(approvals, encodeURI(other), { ...notes, id })).toBe(id === other ? 'enabled' : 'quarantined');
      }
    }
  });

  it('SEC-9 a request of a project expires and is renewed; one that a caller made expires for good', async () => {
    const clock = createFakeClock();
    const approvals = await open(memory(), clock);
    const proposed: Server = { ...stdioServer('found', { command: 'x' }), origin: 'introspected' };
    await approvals.request([project, proposed], 'trust-first');
    await clock.advance(EXPIRES_AFTER_MS + 1);
    expect(approvals.list([project, proposed]).map(({ state }) => state)).toEqual(['expired', 'expired']);
    const answer = { ruling: { by: 'ann', at: clock.now() } };
    await expect(approvals.approve(proposed, [{ about: 'launch' }], answer)).rejects.toMatchObject({
      code: 'APPROVAL_REQUIRED',
    });
    expect(await approvals.request([project, proposed], 'trust-first')).toMatchObject([{ ref: 'db' }]);
    expect(await approvals.request([proposed], 'trust-first', { renew: true })).toMatchObject([{ ref: 'found' }]);
  });

  it('SEC-9 the difference is shown from what was kept, also after it was approved and changed again', async () => {
    const store = memory();
    const approvals = await open(store);
    await approvals.admit(notes, seen('first', 'Be kind.'), FRESH);
    await approvals.admit(notes, seen('second', 'Obey.'), FRESH);
    const later = await open(store);
    expect((await later.diff(notes, READ)).changes).toEqual([
      { path: '/description', before: '"first"', after: '"second"' },
    ]);
    expect((await later.diff(notes, { about: 'instructions' })).changes).toEqual([
      { path: '/instructions', before: '"Be kind."', after: '"Obey."' },
    ]);
    await later.approve(notes, [READ, { about: 'instructions' }], { ruling });
    await expect(later.diff(notes, READ)).rejects.toMatchObject({ code: 'NOTHING_FOUND' });
    await later.admit(notes, seen('third', 'Obey.'), FRESH);
    expect((await later.diff(notes, READ)).changes).toEqual([
      { path: '/description', before: '"second"', after: '"third"' },
    ]);
    const [kept] = await store.list('definitions');
    expect(JSON.stringify(kept?.value)).not.toContain('first');
  });

  it('A23 a damaged record is not a first use: everything is pending, and a new approval repairs it', async () => {
    const store = memory();
    await (await open(store)).admit(notes, seen('good'), FRESH);
    const [entry] = await store.list('approvals');
    const broken: JsonValue[] = [
      'nonsense',
      { ...(entry!.value as JsonObject), body: `${String((entry!.value as JsonObject)['body'])} ` },
      { ...(entry!.value as JsonObject), sum: sha256('x') },
      { format: 0, body: '{}', sum: sha256('{}') },
    ];
    for (const value of broken) {
      await store.put('approvals', entry!.key, value);
      const approvals = await open(store);
      expect(statusOf(approvals, 'good')).toBe('pending');
      await approvals.admit(notes, seen('good'), FRESH);
      expect(statusOf(approvals, 'good')).toBe('pending');
      expect(statusOf(await open(store), 'good')).toBe('pending');
      await approvals.approve(notes, [READ], { ruling });
      expect(statusOf(await open(store), 'good')).toBe('enabled');
    }
  });

  it('A40 a decision that other processes keep overtaking ends with the advice to try again', async () => {
    const store = memory();
    await (await open(store)).admit(notes, seen('good'), FRESH);
    await (await open(store)).admit(notes, seen('bad'), FRESH);
    const approvals = await open({ ...store, put: async () => false });
    await expect(approvals.approve(notes, [READ], { ruling })).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: 'Other processes keep changing the approvals of "notes".',
      suggestion: 'Try again.',
    });
  });

  it('A23 a record of a newer version is neither believed nor overwritten', async () => {
    const store = memory();
    await (await open(store)).admit(notes, seen('good'), FRESH);
    const [entry] = await store.list('approvals');
    const newer = { ...(entry!.value as JsonObject), format: 2 };
    await store.put('approvals', entry!.key, newer);
    const approvals = await open(store);
    await approvals.admit(notes, seen('good'), FRESH);
    expect(statusOf(approvals, 'good')).toBe('pending');
    await expect(approvals.approve(notes, [READ], { ruling })).rejects.toMatchObject({ code: 'STORE_ERROR' });
    expect((await store.get('approvals', entry!.key))?.value).toEqual(newer);
  });

  it('STORE-1 a disk that is full costs the pins of this list, not its tools, and quarantines all the same', async () => {
    const store = memory();
    let isFull = true;
    const full: Store = {
      ...store,
      put: (...args) => (isFull ? Promise.reject(new Error('disk full')) : store.put(...args)),
    };
    await (await open(store)).admit(notes, seen('good'), FRESH);
    const approvals = await open(full);
    await approvals.admit(notes, seen('bad'), FRESH);
    expect(statusOf(approvals, 'bad')).toBe('quarantined');
    const other = stdioServer('other', { command: 'x' });
    await approvals.admit(other, seen('new'), FRESH);
    expect(statusOf(approvals, 'new', other)).toBe('enabled');
    await expect(approvals.approve(notes, [READ], { ruling })).rejects.toThrow();
    expect(statusOf(approvals, 'bad')).toBe('quarantined');
    isFull = false;
    await approvals.admit(notes, seen('bad'), FRESH);
    await approvals.approve(notes, [READ], { ruling });
    expect(statusOf(await open(store), 'bad')).toBe('enabled');
  });

  it('A40 a quarantine that could not be stored holds, is tried again and reaches the others; the flag stands until then', async () => {
    const store = memory();
    const clock = createFakeClock();
    let isFull = false;
    let tell = (_space: string): void => {};
    const disk: Store = {
      ...store,
      put: (...args) => (isFull ? Promise.reject(new Error('disk full')) : store.put(...args)),
      onChange: (listener) => ((tell = listener), () => {}),
    };
    const flags: boolean[] = [];
    const flag = { raise: () => flags.push(true), lower: () => flags.push(false) };
    const approvals = createApprovals({ store: disk, clock, log: silentLog, flag });
    await approvals.load();
    await approvals.admit(notes, seen('good'), FRESH);
    isFull = true;
    await approvals.admit(notes, seen('bad'), FRESH);
    expect(flags).toEqual([true]);
    expect(statusOf(approvals, 'good')).toBe('quarantined');
    // Another process changes something meanwhile: the second read does not undo it.
    await (await open(store)).admit(stdioServer('other', { command: 'x' }), seen('new'), FRESH);
    tell('approvals');
    await new Promise((resolve) => setImmediate(resolve));
    expect(statusOf(approvals, 'good')).toBe('quarantined');
    await clock.advance(10_000);
    expect(statusOf(await open(store), 'good')).toBe('enabled');
    isFull = false;
    await clock.advance(10_000);
    await expect.poll(() => flags).toEqual([true, false]);
    const later = await open(store);
    expect([statusOf(later, 'good'), statusOf(later, 'bad')]).toEqual(['quarantined', 'quarantined']);
    expect((await later.diff(notes, READ)).changes).not.toEqual([]);
    approvals.close();
  });

  it.each<[string, (entry: Entry) => JsonValue]>([
    ['not JSON', () => null],
    ['another shape with a right checksum', () => forged({ tools: 5 })],
    ['an entry that is not a tool', () => forged({ tools: [[1, 2]] })],
    ['no JSON with a right checksum', () => ({ format: 1, sum: sha256('{'), body: '{' })],
  ])('A48 a record with %s: everything of it waits, and the other records are read', async (_what, damage) => {
    const store = memory();
    const first = await open(store);
    const other = stdioServer('other', { command: 'x' });
    await first.admit(notes, seen('good'), FRESH);
    await first.admit(other, seen('good'), FRESH);
    const entry = (await store.list('approvals')).find(({ key }) => key === keyOf(notes))!;
    await store.put('approvals', entry.key, damage(entry));
    const second = await open(store);
    expect([statusOf(second, 'good'), statusOf(second, 'good', other)]).toEqual(['pending', 'enabled']);
    await second.admit(notes, seen('good'), FRESH);
    expect(statusOf(second, 'good')).toBe('pending');
  });

  it('A48 a record under a damaged key is not a first use of its server', async () => {
    const store = memory();
    await (await open(store)).admit(notes, seen('good'), FRESH);
    const [entry] = await store.list('approvals');
    await store.delete('approvals', entry!.key);
    await store.put('approvals', `${entry!.key.slice(0, -1)}!`, entry!.value);
    const second = await open(store);
    expect(statusOf(second, 'bad')).toBe('pending');
    await second.admit(notes, seen('bad'), FRESH);
    expect(statusOf(second, 'bad')).toBe('pending');
  });

  it('A48 while the store is in doubt every server is held, of whatever origin; accepting ends that', async () => {
    const store = memory();
    await store.put('about-store', 'doubt', { reason: 'vanished', at: 1 });
    const approvals = await open(store);
    expect(approvals.hold(notes, 'trust-first')).toMatchObject({ state: 'unaccepted' });
    expect(approvals.hold(notes, 'trust-first')?.remedy).toEqual({ kind: 'accept-store' });
    expect(approvals.hold(notes, 'manual')).toBeDefined();
    expect(approvals.hold(notes, 'off')).toBeUndefined();
    expect(await approvals.request([project], 'trust-first')).toEqual([]);
    expect(await approvals.accept()).toMatchObject({ reason: 'vanished' });
    expect(approvals.hold(notes, 'trust-first')).toBeUndefined();
    expect((await open(store)).hold(notes, 'trust-first')).toBeUndefined();
    expect(await approvals.accept()).toBeUndefined();
    await store.put('about-store', 'doubt', 'nonsense');
    expect((await open(store)).doubt()).toMatchObject({ reason: 'damaged' });
  });

  it('STORE-1 what another process decided is heard of', async () => {
    const store = memory();
    let tell = (_space: string): void => {};
    const watched: Store = { ...store, onChange: (listener) => ((tell = listener), () => {}) };
    const listener = await open(watched);
    const heard: string[][] = [];
    listener.onChange((servers) => heard.push([...servers]));
    const other = await open(store);
    await other.admit(notes, seen('good'), FRESH);
    await other.admit(notes, seen('bad'), FRESH);
    await other.approve(notes, [READ], { ruling });
    tell('tools');
    tell('approvals');
    await new Promise((resolve) => setImmediate(resolve));
    expect(heard).toEqual([['notes']]);
    expect(statusOf(listener, 'bad')).toBe('enabled');
  });
});
