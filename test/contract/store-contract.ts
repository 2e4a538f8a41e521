import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditRecord } from '../../src/model/audit-record.js';
import { STORE_SPACE, type Store } from '../../src/model/store.js';
import type { AuditSum, AuditSumQuery } from '../../src/model/stats.js';

/** A store under test. `reopen` closes it and opens the same state again, where state outlives a store. */
export interface StoreUnderTest {
  readonly store: Store;
  readonly reopen?: () => Promise<Store>;
  readonly cleanup: () => Promise<void>;
}

/** Names that a careless store mixes up, cuts or runs. */
const HOSTILE = [
  '',
  ' ',
  '__proto__',
  'constructor',
  'toString',
  'a',
  'A',
  'a\0b',
  'a\0c',
  '\0',
  'é',
  'e\u0301',
  '\ud800',
  '\ud801',
  '\ufffd',
  '😀',
  '\uff01',
  `'; drop table entries; --`,
  '"quoted"',
  '\\u0000',
  '\\',
  'a/b',
  'a_b',
  '%',
  '../../etc/passwd',
  'line\nbreak\r',
  'x'.repeat(10_000),
  `${'x'.repeat(10_000)}y`,
];

const record = (id: string, more: Partial<AuditRecord> = {}): AuditRecord => ({
  id,
  time: 1000,
  kind: 'execution',
  principal: 'local',
  outcome: 'success',
  ...more,
});

/** What every store must do, run for each implementation. */
export function describeStore(name: string, open: () => Promise<StoreUnderTest>): void {
  describe(`${name} keeps the store contract`, () => {
    let under: StoreUnderTest;
    let store: Store;
    beforeEach(async () => {
      under = await open();
      store = under.store;
    });
    afterEach(() => under.cleanup());

    const ids = async (filter: Parameters<Store['audit']>[0]): Promise<string[]> =>
      (await store.audit(filter)).map(({ id }) => id);

    it('STORE-1 gives back what was put, with its dates', async () => {
      const value = { a: [1, 2.5, null, true, 'text\0\ud800'], nested: { deep: {} } };
      expect(await store.put('s', 'k', value, { expiresAt: 5000 })).toBe(true);
      const entry = await store.get('s', 'k');
      expect(entry).toMatchObject({ key: 'k', value, expiresAt: 5000 });
      expect(entry?.storedAt).toBeGreaterThan(0);
      expect(entry?.revision).toBeGreaterThan(0);
      expect(await store.get('s', 'other')).toBeUndefined();
      expect(await store.get('other', 'k')).toBeUndefined();
    });

    it('STORE-1 keeps every kind of JSON value', async () => {
      for (const value of [null, false, 0, -1.5e300, '', [], {}, 'x']) {
        await store.put('s', 'k', value);
        expect((await store.get('s', 'k'))?.value).toEqual(value);
      }
    });

    it('STORE-1 an entry put without expiry has none, also when it had one', async () => {
      await store.put('s', 'k', 1, { expiresAt: 5 });
      await store.put('s', 'k', 2);
      expect((await store.get('s', 'k'))?.expiresAt).toBeUndefined();
    });

    it('STORE-1 an expired entry stays readable', async () => {
      await store.put('s', 'k', 'stale', { expiresAt: 1 });
      expect(await store.get('s', 'k')).toMatchObject({ value: 'stale', expiresAt: 1 });
    });

    it('STORE-1 changing a value outside changes nothing inside', async () => {
      const value = { list: [1] };
      await store.put('s', 'k', value);
      value.list.push(2);
      const read = await store.get('s', 'k');
      (read!.value as typeof value).list.push(3);
      expect((await store.get('s', 'k'))?.value).toEqual({ list: [1] });
    });

    it('STORE-1 a value that is not JSON is refused with STORE_ERROR and changes nothing', async () => {
      await store.put('s', 'k', 1);
      const circular: { self?: never } = {};
      circular.self = circular as never;
      const refused = {
        code: 'STORE_ERROR',
        message: expect.stringContaining('The value of "k" in "s" cannot be stored') as string,
        suggestion: expect.stringContaining('plain JSON data') as string,
      };
      await expect(store.put('s', 'k', circular)).rejects.toMatchObject(refused);
      await expect(store.put('s', 'k', undefined as never)).rejects.toMatchObject(refused);
      expect((await store.get('s', 'k'))?.value).toBe(1);
    });

    it('STORE-1 revisions grow, also over a deletion', async () => {
      const revisions: number[] = [];
      for (let round = 0; round < 3; round++) {
        await store.put('s', 'k', round);
        revisions.push((await store.get('s', 'k'))!.revision);
      }
      await store.delete('s', 'k');
      await store.put('s', 'k', 'again');
      revisions.push((await store.get('s', 'k'))!.revision);
      await store.clear('s');
      await store.put('s', 'k', 'and again');
      revisions.push((await store.get('s', 'k'))!.revision);
      expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b));
    });

    it('STORE-1 compare-and-swap writes only over the revision it names', async () => {
      expect(await store.put('s', 'k', 'first', { ifRevision: 0 })).toBe(true);
      expect(await store.put('s', 'k', 'second', { ifRevision: 0 })).toBe(false);
      const { revision } = (await store.get('s', 'k'))!;
      expect(await store.put('s', 'k', 'third', { ifRevision: revision + 1 })).toBe(false);
      expect((await store.get('s', 'k'))?.value).toBe('first');
      expect(await store.put('s', 'k', 'third', { ifRevision: revision })).toBe(true);
      expect(await store.put('s', 'k', 'fourth', { ifRevision: revision })).toBe(false);
      await store.delete('s', 'k');
      expect(await store.put('s', 'k', 'fifth', { ifRevision: revision })).toBe(false);
      expect(await store.put('s', 'k', 'sixth', { ifRevision: 0 })).toBe(true);
    });

    it('STORE-1 of many swaps at once exactly one wins', async () => {
      await store.put('s', 'k', 'start');
      const { revision } = (await store.get('s', 'k'))!;
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, i) => store.put('s', 'k', i, { ifRevision: revision })),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    it('STORE-1 writes of one process take effect in their order', async () => {
      await Promise.all(Array.from({ length: 50 }, (_, i) => store.put('s', 'k', i)));
      expect((await store.get('s', 'k'))?.value).toBe(49);
    });

    it('STORE-1 lists a space sorted by key', async () => {
      for (const key of ['b', 'a', '😀', '\uff01', 'B', '10', '9', 'a\0']) await store.put('s', key, key);
      await store.put('t', 'other', 1);
      const keys = (await store.list('s')).map((entry) => entry.key);
      expect(keys).toEqual(['10', '9', 'B', 'a', 'a\0', 'b', '😀', '\uff01']);
      expect(await store.list('nothing')).toEqual([]);
    });

    it('STORE-1 delete says whether there was something', async () => {
      await store.put('s', 'k', 1);
      expect(await store.delete('s', 'k')).toBe(true);
      expect(await store.delete('s', 'k')).toBe(false);
      expect(await store.delete('nothing', 'k')).toBe(false);
      expect(await store.get('s', 'k')).toBeUndefined();
    });

    it('STORE-1 clear empties one space and counts', async () => {
      for (const key of ['a', 'b', 'c']) await store.put('s', key, 1);
      await store.put('t', 'a', 1);
      expect(await store.clear('s')).toBe(3);
      expect(await store.clear('s')).toBe(0);
      expect(await store.clear('nothing')).toBe(0);
      expect(await store.list('s')).toEqual([]);
      expect(await store.list('t')).toHaveLength(1);
    });

    it('STORE-1 A22 hostile keys and spaces stay distinct', async () => {
      for (const key of HOSTILE) await store.put('s', key, key.length);
      expect((await store.list('s')).map(({ key }) => key)).toEqual(HOSTILE.toSorted((a, b) => (a < b ? -1 : 1)));
      for (const key of HOSTILE) expect(await store.get('s', key)).toMatchObject({ key, value: key.length });
      for (const [at, space] of HOSTILE.entries()) await store.put(space, 'k', at);
      for (const [at, space] of HOSTILE.entries()) expect((await store.list(space))[0]?.value).toBe(at);
      expect(({} as Record<string, unknown>)['k']).toBeUndefined();
      for (const space of HOSTILE) expect(await store.clear(space)).toBe(1);
    });

    it('STORE-1 A27 a value with a __proto__ field is data', async () => {
      await store.put('s', 'k', JSON.parse('{"__proto__":{"polluted":1}}'));
      const entry = await store.get('s', 'k');
      expect(JSON.stringify(entry?.value)).toBe('{"__proto__":{"polluted":1}}');
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    });

    it('STORE-1 keeps a large value', async () => {
      const value = 'x'.repeat(3_000_000);
      await store.put('s', 'k', value);
      expect((await store.get('s', 'k'))?.value).toBe(value);
    });

    it('EXEC-5 the audit log answers newest first, 100 unless asked otherwise', async () => {
      await store.append(Array.from({ length: 150 }, (_, i) => record(`r${i}`, { time: 1000 + i })));
      const all = await ids({});
      expect(all).toHaveLength(100);
      expect(all.slice(0, 2)).toEqual(['r149', 'r148']);
      expect(await ids({ limit: 2 })).toEqual(['r149', 'r148']);
      expect(await ids({ limit: 0 })).toEqual([]);
      expect(await ids({ limit: -1 })).toEqual([]);
      expect(await ids({ limit: 1000 })).toHaveLength(150);
    });

    it('EXEC-5 newest means appended last, whatever the clock of the writer said', async () => {
      await store.append([record('first', { time: 5000 })]);
      await store.append([record('second', { time: 3000 }), record('third', { time: 4000 })]);
      expect(await ids({})).toEqual(['third', 'second', 'first']);
    });

    it('EXEC-5 a record comes back whole', async () => {
      const whole = record('r', {
        route: 'mcp',
        host: 'my-agent',
        skill: 'triage',
        server: `s'\0`,
        tool: '__proto__',
        arguments: { path: '/x', token: '***' },
        argumentsHash: 'ab',
        code: 'TOOL_DISABLED',
        outcome: 'refused',
        latencyMs: 1.25,
        waitedMs: 1,
        connectMs: 0.5,
        askedMs: 0.125,
        resultBytes: 10,
        era: 'modern',
        traceId: 't',
        detail: ['any', 1],
      });
      await store.append([whole]);
      expect(await store.audit({})).toEqual([whole]);
      expect(await store.audit({ server: `s'\0`, tool: '__proto__' })).toEqual([whole]);
    });

    it('EXEC-5 every filter narrows, and all must hold', async () => {
      await store.append([
        record('a', { server: 'github', tool: 'list', time: 10 }),
        record('b', { server: 'github', tool: 'create', outcome: 'failure', time: 20 }),
        record('c', {
          arguments: { host: 'none', a: '"host":"none"' },
          server: 'slack',
          tool: 'list',
          outcome: 'refused',
          time: 30,
        }),
        record('d', { kind: 'reload', time: 40 }),
      ]);
      expect(await ids({ server: 'github' })).toEqual(['b', 'a']);
      expect(await ids({ tool: 'list' })).toEqual(['c', 'a']);
      expect(await ids({ kind: 'reload' })).toEqual(['d']);
      expect(await ids({ outcome: 'refused' })).toEqual(['c']);
      expect(await ids({ since: 20 })).toEqual(['d', 'c', 'b']);
      expect(await ids({ server: 'github', tool: 'list', kind: 'execution', outcome: 'success', since: 10 })).toEqual([
        'a',
      ]);
      expect(await ids({ server: 'github', since: 15, limit: 1 })).toEqual(['b']);
      expect(await ids({ server: 'Github' })).toEqual([]);
    });

    it('EXEC-5 an append that is repeated is stored once', async () => {
      await store.append([record('a'), record('b')]);
      await store.append([record('b'), record('c'), record('c')]);
      expect(await ids({})).toEqual(['c', 'b', 'a']);
      await store.append([]);
      expect(await ids({})).toHaveLength(3);
    });

    it('EXEC-5 an append with one bad record stores none of them', async () => {
      const circular: { self?: never } = {};
      circular.self = circular as never;
      await expect(store.append([record('good'), record('bad', { detail: circular })])).rejects.toMatchObject({
        code: 'STORE_ERROR',
      });
      expect(await ids({})).toEqual([]);
    });

    it('ANS-7 sums of the audit log are by kind and by what is asked for', async () => {
      const tokens = (args: number, returned: number, withheld = 0) => ({ arguments: args, returned, withheld });
      const day = 86_400_000;
      await store.append([
        record('a', { host: 'my "agent" \\ é', server: 'github', tool: 'list', time: day, tokens: tokens(1, 10) }),
        record('b', { server: 'github', tool: `o'dd\0`, time: day + 5, outcome: 'failure', tokens: tokens(2, 20, 5) }),
        record('c', { server: 'slack', tool: 'list', time: 2 * day, principal: 'élan\u0000', tokens: tokens(4, 40) }),
        // As an older version recorded it.
        record('d', { server: 'slack', tool: 'list', time: 2 * day, principal: 'ann' }),
        record('w', { server: 'slack', tool: 'drop', time: 2 * day, outcome: 'waiting' }),
        record('e', { kind: 'search', host: 'Studio', time: 2 * day + 1, principal: 'ann', tokens: tokens(8, 80) }),
      ]);
      const nameOf = ({ kind, day, server, tool }: AuditSum): string => [kind, day, server, tool].join(' ');
      const sums = async (query: AuditSumQuery): Promise<AuditSum[]> =>
        (await store.sumAudit(query)).toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
      expect(await sums({ by: [] })).toEqual([
        { kind: 'execution', records: 5, failed: 1, waiting: 1, tokens: tokens(7, 70, 5) },
        { kind: 'search', records: 1, failed: 0, waiting: 0, tokens: tokens(8, 80) },
      ]);
      expect(await sums({ by: ['server'] })).toEqual([
        { kind: 'execution', server: 'github', records: 2, failed: 1, waiting: 0, tokens: tokens(3, 30, 5) },
        { kind: 'execution', server: 'slack', records: 3, failed: 0, waiting: 1, tokens: tokens(4, 40) },
        { kind: 'search', records: 1, failed: 0, waiting: 0, tokens: tokens(8, 80) },
      ]);
      expect(await sums({ by: ['day'] })).toMatchObject([
        { kind: 'execution', day: '1970-01-02', records: 2 },
        { kind: 'execution', day: '1970-01-03', records: 3 },
        { kind: 'search', day: '1970-01-03', records: 1 },
      ]);
      const hosts = (await sums({ by: ['host'] })).map(({ kind, host, records }) => [kind, host, records]);
      expect(hosts).toHaveLength(3);
      expect(hosts).toEqual(
        expect.arrayContaining([
          ['execution', undefined, 4],
          ['execution', 'my "agent" \\ é', 1],
          ['search', 'Studio', 1],
        ]),
      );
      const named = await sums({ by: ['server', 'tool', 'principal'] });
      expect(named.map(({ server, tool, principal, records }) => [server, tool, principal, records])).toEqual(
        expect.arrayContaining([
          ['github', `o'dd\0`, 'local', 1],
          ['slack', 'list', 'élan\u0000', 1],
          ['slack', 'list', 'ann', 1],
          [undefined, undefined, 'ann', 1],
        ]),
      );
      expect(named).toHaveLength(6);
      expect(await sums({ by: [], since: day + 5, until: 2 * day })).toMatchObject([{ records: 1, failed: 1 }]);
      expect(await sums({ by: ['day'], since: 9 * day })).toEqual([]);
    });

    it('ANS-7 sums of a long audit log are complete', async () => {
      const count = 9001;
      const one = { arguments: 1, returned: 2, withheld: 3 };
      await store.append(
        Array.from({ length: count }, (_, at) => record(`r${at}`, { server: `s${at % 7}`, tokens: one })),
      );
      const sums = await store.sumAudit({ by: ['server'] });
      expect(sums).toHaveLength(7);
      expect(sums.reduce((sum, { records }) => sum + records, 0)).toBe(count);
      expect(sums.reduce((sum, { tokens }) => sum + tokens.withheld, 0)).toBe(3 * count);
    });

    it('EXEC-5 pruning forgets what is older and counts', async () => {
      await store.append(Array.from({ length: 10 }, (_, i) => record(`r${i}`, { time: i })));
      expect(await store.pruneAudit(7)).toBe(7);
      expect(await store.pruneAudit(7)).toBe(0);
      expect(await ids({})).toEqual(['r9', 'r8', 'r7']);
      await store.append([record('r0')]);
      expect(await ids({})).toEqual(['r0', 'r9', 'r8', 'r7']);
    });

    it('STORE-5 names the spaces that hold something', async () => {
      expect((await store.spaces()).filter((name) => name !== STORE_SPACE)).toEqual([]);
      for (const space of HOSTILE) await store.put(space, 'k', 1);
      await store.put('emptied', 'k', 1);
      await store.delete('emptied', 'k');
      expect((await store.spaces()).filter((name) => name !== STORE_SPACE)).toEqual(HOSTILE.toSorted());
    });

    it('STORE-5 the whole audit log comes in pages, oldest first', async () => {
      const all = Array.from({ length: 2500 }, (_, i) => record(`r${i}`, { time: 5000 - i }));
      await store.append(all);
      const found: AuditRecord[] = [];
      for await (const page of store.auditPages()) found.push(...page);
      expect(found).toEqual(all);
    });

    it('SEC-12 the log verifies after appends, repeated appends and records with hostile names', async () => {
      expect(await store.verifyAudit()).toMatchObject({
        ok: true,
        records: 0,
        forgotten: 0,
        unchained: { records: 0 },
      });
      await store.append([record('a'), record('b', { server: `s'\0`, tool: '__proto__', detail: 'ü\ud800\n' })]);
      await store.append([record('b'), record('c', { time: 12.5 }), record('c')]);
      await store.append([record('c')]);
      await store.append(Array.from({ length: 300 }, (_, i) => record(`r${i}`, { time: 1000 - i })));
      const found = await store.verifyAudit();
      expect(found).toMatchObject({ ok: true, records: 303, blocks: 3, unchained: { records: 0 } });
      const head = found.heads.find(({ number }) => number > 0)!;
      expect(head).toMatchObject({ number: 3, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    });

    it('SEC-12 a head that was kept proves what came before it, and that the end is there', async () => {
      await store.append([record('a')]);
      const head = (await store.verifyAudit()).heads.find(({ number }) => number > 0);
      await store.append([record('b')]);
      expect((await store.verifyAudit([head!])).ok).toBe(true);
      expect((await store.verifyAudit([{ ...head!, hash: '0'.repeat(64) }])).problem).toMatchObject({
        damage: 'changed',
        id: 'a',
      });
      expect((await store.verifyAudit([{ ...head!, number: 9 }])).problem?.damage).toBe('removed');
    });

    it('SEC-12 retention leaves a log that verifies, whatever it takes', async () => {
      await store.append(Array.from({ length: 10 }, (_, i) => record(`a${i}`, { time: i })));
      await store.append(Array.from({ length: 10 }, (_, i) => record(`b${i}`, { time: 20 - i })));
      await store.append([record('c', { time: 3 })]);
      await store.append([record('d', { time: 50 })]);
      for (const [before, gone] of [
        [5, 6],
        [12, 6],
        [12, 0],
        [4, 0],
        [21, 9],
      ] as const) {
        expect(await store.pruneAudit(before)).toBe(gone);
        expect((await store.verifyAudit()).problem).toBeUndefined();
      }
      expect(await store.verifyAudit()).toMatchObject({ ok: true, records: 1, forgotten: 21 });
      expect(await store.pruneAudit(100)).toBe(1);
      await store.append([record('e', { time: 1 })]);
      expect(await store.verifyAudit()).toMatchObject({ ok: true, records: 1, forgotten: 22 });
      expect(await store.pruneAudit(100)).toBe(1);
      expect(await store.verifyAudit()).toMatchObject({ ok: true, records: 0, forgotten: 23 });
    });

    it('SEC-12 the log can be read on from a place, which stays valid after retention', async () => {
      await store.append([record('a', { time: 1 }), record('b', { time: 2 }), record('c', { time: 3 })]);
      const first = await store.auditAfter(0, 2);
      expect(first.records.map(({ id }) => id)).toEqual(['a', 'b']);
      const rest = await store.auditAfter(first.position, 10);
      expect(rest.records.map(({ id }) => id)).toEqual(['c']);
      expect(await store.auditAfter(rest.position, 10)).toEqual({ records: [], position: rest.position });
      await store.pruneAudit(100);
      await store.append([record('d', { time: 4 })]);
      expect((await store.auditAfter(rest.position, 10)).records.map(({ id }) => id)).toEqual(['d']);
    });

    it('STORE-1 the audit log and the spaces do not touch each other', async () => {
      await store.put('audit', 'k', 1);
      await store.append([record('a')]);
      expect(await store.clear('audit')).toBe(1);
      expect(await store.pruneAudit(0)).toBe(0);
      expect(await ids({})).toEqual(['a']);
    });

    it('STORE-1 a listener can be added and removed, also twice', async () => {
      const stop = store.onChange(() => {});
      const stopToo = store.onChange(() => {});
      await store.put('s', 'k', 1);
      stop();
      stop();
      stopToo();
      expect((await store.get('s', 'k'))?.value).toBe(1);
    });

    it('STORE-1 a closed store refuses with STORE_ERROR, and closing twice is nothing', async () => {
      await store.close();
      await store.close();
      await expect(store.get('s', 'k')).rejects.toMatchObject({
        code: 'STORE_ERROR',
        suggestion: expect.stringMatching(/^Start toolscout again/) as string,
      });
      await expect(store.put('s', 'k', 1)).rejects.toMatchObject({ code: 'STORE_ERROR' });
      await expect(store.append([record('a')])).rejects.toMatchObject({ code: 'STORE_ERROR' });
    });

    it('STORE-1 what outlives a store is there when it is opened again', async () => {
      expect(store.location).not.toBe('');
      if (!under.reopen) return expect(store.location).toBe('memory');
      await store.put('s', 'k', { kept: true }, { expiresAt: 9 });
      await store.append([record('a')]);
      const before = await store.get('s', 'k');
      store = await under.reopen();
      expect(await store.get('s', 'k')).toEqual(before);
      expect(await ids({})).toEqual(['a']);
    });
  });
}
