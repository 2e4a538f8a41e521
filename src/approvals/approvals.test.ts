import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { stdioServer } from '../../test/support/test-server.js';
import { hashJson, sha256 } from '../kernel/hash.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { silentLog } from '../kernel/log.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';
import { createMemoryStore } from '../store/index.js';
import { createApprovals, type Approvals } from './approvals.js';
import { EXPIRES_AFTER_MS, type Seen } from './decide.js';
import { launchOf } from './fingerprint.js';

const notes = stdioServer('notes', { command: 'notes-mcp' });
const project = stdioServer('db', { command: 'npx', args: ['-c', 'x'.repeat(500)] }, { scope: 'project' });

const seen = (description: string, instructions?: string): Seen => {
  const definition: JsonObject = { name: 'read', description };
  const tools = [{ name: 'read', hash: hashJson(definition), definition, categories: [] }];
  return { tools, ...(instructions === undefined ? {} : { instructions }) };
};
const READ = { about: 'tool', tool: 'read' } as const;
const FRESH = { policy: 'trust-first', fresh: true } as const;
const ruling = { by: 'ann', at: 1 };

const statusOf = (approvals: Approvals, description: string, server: Server = notes): string =>
  approvals.judge(server, {}, 'trust-first').judge(seen(description).tools[0]!).status;

async function open(store: Store, clock = createFakeClock()): Promise<Approvals> {
  const approvals = createApprovals({ store, clock, log: silentLog });
  await approvals.load();
  return approvals;
}
const memory = (): Store => createMemoryStore({ clock: createFakeClock() });

describe('approvals', () => {
  it('A12 a pin outlives the process; the quarantine too', async () => {
    const store = memory();
    const first = await open(store);
    expect(await first.admit(notes, seen('good'), FRESH)).toEqual([]);
    const second = await open(store);
    const asked = await second.admit(notes, seen('bad'), FRESH);
    expect(asked).toMatchObject([{ ref: 'notes:read', state: 'pending', changed: ['description'] }]);
    const third = await open(store);
    expect([statusOf(third, 'good'), statusOf(third, 'bad')]).toEqual(['enabled', 'quarantined']);
    expect(await third.admit(notes, seen('bad'), FRESH)).toEqual([]);
  });

  it('SEC-9 before it has read what is trusted it trusts nothing', () => {
    const approvals = createApprovals({ store: memory(), clock: createFakeClock(), log: silentLog });
    expect(statusOf(approvals, 'good')).toBe('pending');
    expect(approvals.hold(project, 'trust-first')).toBeDefined();
  });

  it('A12 of two processes that see different things at once only one is believed', async () => {
    const store = memory();
    const [one, two] = [await open(store), await open(store)];
    await Promise.all([one.admit(notes, seen('a'), FRESH), two.admit(notes, seen('b'), FRESH)]);
    const after = await open(store);
    const statuses = ['a', 'b'].map((each) => statusOf(after, each)).toSorted();
    expect(statuses).toEqual(['enabled', 'quarantined']);
    // Whoever lost knows it at once.
    const own = [statusOf(one, 'a'), statusOf(two, 'b')].toSorted();
    expect(own).toEqual(['enabled', 'quarantined']);
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

  it('A23 a damaged record is not a first use: everything waits, and approving it anew mends it', async () => {
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
