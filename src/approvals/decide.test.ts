import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seen, seenTool } from '../../test/support/seen-tools.js';
import { hashJson } from '../kernel/hash.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import {
  type ApprovalPolicy,
  changedFields,
  EXPIRES_AFTER_MS,
  holdServer,
  judgeServer,
  MAX_PINS,
  takeIn,
  type Circumstances,
  type Seen,
} from './decide.js';
import { presentationOf } from './fingerprint.js';
import type { Standing, TrustRecord } from './record.js';
import { approvalsOf, approveIn, rejectIn } from './rulings.js';

const blank: TrustRecord = {
  version: 0,
  server: 'notes',
  launch: 'L',
  origin: 'user',
  target: 'notes-mcp',
  start: {},
  presentation: {},
  tools: new Map(),
  past: [],
};

const DEFINITION: JsonObject = {
  name: 'read',
  description: 'Reads a note.',
  inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

const take = (
  record: TrustRecord,
  what: Seen,
  how: Partial<Omit<Circumstances, 'earlier' | 'weigh'>> = {},
): TrustRecord =>
  takeIn(record, what, {
    policy: 'trust-first',
    now: 0,
    careful: false,
    fresh: true,
    earlier: () => DEFINITION,
    ...how,
  });

const statusOf = (record: TrustRecord, definition: JsonObject, rest: Omit<Seen, 'tools'> = {}): string =>
  judgeServer({ record }, rest, 'trust-first').judge(seenTool(definition)).status;

const ruling = { by: 'ann', at: 1 };
const READ = { about: 'tool', tool: 'read' } as const;

describe('trust on first use', () => {
  it('SEC-9 the first list is pinned and enabled, and seeing it again writes nothing', () => {
    const pinned = take(blank, seen([DEFINITION], { instructions: 'Be kind.' }));
    expect(pinned.tools.get('read')).toEqual({ trust: { hash: hashJson(DEFINITION), at: 0 } });
    expect(statusOf(pinned, DEFINITION, { instructions: 'Be kind.' })).toBe('enabled');
    expect(take(pinned, seen([DEFINITION], { instructions: 'Be kind.' }), { now: 99 })).toBe(pinned);
  });

  it.each<[string, JsonObject]>([
    ['description', { ...DEFINITION, description: 'Reads a note!' }],
    ['inputSchema', { ...DEFINITION, inputSchema: { type: 'object', properties: { id: { type: 'number' } } } }],
    ['outputSchema', { ...DEFINITION, outputSchema: { type: 'object', title: 'x' } }],
    ['annotations', { ...DEFINITION, annotations: { readOnlyHint: false } }],
    ['title', { ...DEFINITION, title: 'Read' }],
    ['icons', { ...DEFINITION, icons: [{ src: 'https://evil.example/x.svg' }] }],
    ['_meta', { ...DEFINITION, _meta: { 'ui/resource': 'ui://evil' } }],
  ])('A12 a change of %s quarantines the tool, and says what changed', (field, changed) => {
    const record = take(take(blank, seen([DEFINITION])), seen([changed]), { now: 5 });
    expect(statusOf(record, changed)).toBe('quarantined');
    const approval = approvalsOf(record, 5).find(({ state }) => state === 'pending');
    expect(approval).toMatchObject({ ref: 'notes:read', pinned: hashJson(DEFINITION), changed: [field] });
  });

  it('A12 changed instructions or a changed title quarantine every tool of the server', () => {
    const record = take(blank, seen([DEFINITION, { name: 'list' }], { instructions: 'Be kind.', title: 'Notes' }));
    for (const rest of [
      { instructions: 'Be kind!', title: 'Notes' },
      { instructions: 'Be kind.', title: 'IMPORTANT' },
    ]) {
      expect(statusOf(record, DEFINITION, rest)).toBe('quarantined');
      expect(statusOf(record, { name: 'list' }, rest)).toBe('quarantined');
      expect(judgeServer({ record }, rest, 'trust-first').isPresentable).toBe(false);
      const noted = take(record, seen([DEFINITION], rest));
      const approved = approveIn(noted, { about: 'instructions' }, { ruling });
      expect(statusOf(approved, DEFINITION, rest)).toBe('enabled');
    }
  });

  it('A12 the order of keys never matters, and any other difference always does', () => {
    const shuffle = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(shuffle);
      if (typeof value !== 'object' || value === null) return value;
      const entries = Object.entries(value).toReversed();
      return Object.fromEntries(entries.map(([key, child]) => [key, shuffle(child ?? null)]));
    };
    const definition = fc.dictionary(fc.string(), fc.jsonValue()) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(definition, definition, (one, other) => {
        const first = JSON.parse(JSON.stringify({ ...one, name: 'read' })) as JsonObject;
        const second = JSON.parse(JSON.stringify({ ...other, name: 'read' })) as JsonObject;
        const record = take(blank, seen([first]));
        // What random text is held for is held in any order, too.
        expect(statusOf(record, shuffle(first) as JsonObject)).toBe(statusOf(record, first));
        if (statusOf(record, first) !== 'enabled') return;
        expect(take(record, seen([shuffle(first) as JsonObject]))).toBe(record);
        expect(statusOf(record, second)).toBe(hashJson(first) === hashJson(second) ? 'enabled' : 'quarantined');
      }),
    );
  });

  it('SEC-9 a tool that disappears and returns as it was is fine; so is one that changes back', () => {
    const pinned = take(blank, seen([DEFINITION, { name: 'list' }]));
    expect(take(pinned, seen([{ name: 'list' }]))).toBe(pinned);
    const changed = take(pinned, seen([{ ...DEFINITION, description: 'x' }]));
    const back = take(changed, seen([DEFINITION]));
    expect(statusOf(back, DEFINITION)).toBe('enabled');
    expect(approvalsOf(back, 0).map(({ state }) => state)).toEqual(['superseded']);
  });

  it('SEC-9 new tools of a known server: pinned with trust-first, pending with manual', () => {
    const known = take(blank, seen([DEFINITION]));
    const more = seen([DEFINITION, { name: 'send' }]);
    expect(take(known, more).tools.get('send')?.trust).toBeDefined();
    const manual = take(known, more, { policy: 'manual' });
    expect(judgeServer({ record: manual }, {}, 'manual').judge(seenTool({ name: 'send' })).status).toBe('pending');
    // Changing the policy approves nothing that already waits.
    expect(statusOf(manual, { name: 'send' })).toBe('pending');
  });

  it('SEC-9 with approval off everything is offered and nothing is noted', () => {
    const known = take(blank, seen([DEFINITION]));
    const changed = { ...DEFINITION, description: 'x' };
    expect(take(known, seen([changed]), { policy: 'off' })).toBe(known);
    expect(judgeServer({ record: known }, {}, 'off').judge(seenTool(changed)).status).toBe('enabled');
  });

  it('A12 a server that lists ever new names cannot push out what is pinned', () => {
    const pinned = take(blank, seen([DEFINITION]));
    const many = Array.from({ length: MAX_PINS - 2 }, (_, at) => [`t${at}`, { trust: { hash: 'h', at: 0 } }] as const);
    const nearlyFull = { ...pinned, tools: new Map<string, Standing>([...pinned.tools, ...many]) };
    expect(statusOf(nearlyFull, { name: 'last' })).toBe('enabled');
    const full = take(nearlyFull, seen([{ name: 'last' }, { name: 'one_more' }]));
    expect([full.tools.size, full.tools.has('last'), full.tools.has('one_more')]).toEqual([MAX_PINS, true, false]);
    expect(statusOf(full, { ...DEFINITION, description: 'x' })).toBe('quarantined');
    expect(statusOf(full, { name: 'one_more' })).toBe('pending');
    // What is pinned already is still compared.
    const changed = take(full, seen([{ ...DEFINITION, description: 'x' }]));
    expect(changed.tools.get('read')?.ask).toMatchObject({ state: 'pending' });
  });

  it('A23 after the record was lost nothing is trusted as if it were new', () => {
    const lost = judgeServer({ unreadable: 'damaged' }, {}, 'trust-first').judge(seenTool(DEFINITION));
    expect(lost).toEqual({
      status: 'pending',
      hold: { cause: 'unreadable', reason: expect.stringContaining('damaged') as string },
    });
    const careful = take(blank, seen([DEFINITION]), { careful: true });
    expect(statusOf(careful, DEFINITION)).toBe('pending');
  });

  it('A27 names that mean something to objects are names like any other', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty'].map((name) => ({ name }));
    const record = take(blank, seen(names));
    for (const definition of names) expect(statusOf(record, definition)).toBe('enabled');
    expect(statusOf(record, { name: '__proto__', description: 'x' })).toBe('quarantined');
    expect(({} as Record<string, unknown>)['trust']).toBeUndefined();
  });
});

describe('a server without a description', () => {
  it('DISC-6 A12 neither changes nor confirms what it said of itself', () => {
    const record = take(blank, seen([DEFINITION], { instructions: 'Be kind.' }));
    expect(statusOf(record, DEFINITION, { isUnknown: true })).toBe('enabled');
    expect(take(record, seen([DEFINITION], { isUnknown: true }))).toBe(record);
    const first = take(blank, seen([DEFINITION], { isUnknown: true }));
    expect(first.presentation).toEqual({});
    expect(statusOf(first, DEFINITION, { instructions: 'Be kind.' })).toBe('enabled');
  });
});

describe('decisions', () => {
  const changed = { ...DEFINITION, description: 'Reads a note and sends it away.' };
  const asked = take(take(blank, seen([DEFINITION])), seen([changed]), { now: 10 });

  it('SEC-9 approving pins exactly what was asked for; the next change waits again', () => {
    const approved = approveIn(asked, READ, { ruling, expected: hashJson(changed).slice(0, 12) });
    expect(statusOf(approved, changed)).toBe('enabled');
    expect(statusOf(approved, DEFINITION)).toBe('quarantined');
    expect(statusOf(approved, { ...changed, description: '?' })).toBe('quarantined');
    const states = approvalsOf(approved, 10).map(({ state, ruling: by, was }) => [state, by?.by, was]);
    expect(states).toEqual([
      ['approved', 'ann', undefined],
      ['superseded', undefined, 'trusted'],
    ]);
  });

  it('SEC-9 says when a list last had what was trusted; further changes in a row keep that time', () => {
    const previous = (at: number, definition: JsonObject) => () => ({
      at,
      hashes: new Map([['read', hashJson(definition)]]),
    });
    const pinned = take(blank, seen([DEFINITION]));
    const first = take(pinned, seen([changed]), { now: 20, previous: previous(15, DEFINITION) });
    const confirmed = (record: TrustRecord) => approvalsOf(record, 30).find(({ state }) => state === 'pending');
    expect(confirmed(first)).toMatchObject({ requestedAt: 20, confirmedAt: 15 });
    const second = take(first, seen([{ ...changed, description: 'worse' }]), {
      now: 25,
      previous: previous(22, changed),
    });
    expect(confirmed(second)).toMatchObject({ requestedAt: 25, confirmedAt: 15 });
    // Without a list that had it, it is known when it was trusted.
    expect(confirmed(asked)).toMatchObject({ confirmedAt: 0 });
    const described = take(take(blank, seen([], { instructions: 'a' })), seen([], { instructions: 'b' }), {
      now: 9,
      previous: () => ({ at: 7, presentation: hashJson(presentationOf({ instructions: 'a' })), hashes: new Map() }),
    });
    expect(confirmed(described)).toMatchObject({ about: 'instructions', confirmedAt: 7 });
  });

  it('SEC-9 what a person decided stays known when something newer takes its place', () => {
    const rejected = rejectIn(asked, READ, { ruling: { by: 'ann', at: 12, reason: 'odd' } });
    const again = take(rejected, seen([{ ...changed, description: 'worse' }]), { now: 13 });
    const decided = (record: TrustRecord) =>
      approvalsOf(record, 20).flatMap(({ state, was, ruling: by }) => (by ? [[was ?? state, by.by, by.reason]] : []));
    expect(decided(again)).toEqual([['rejected', 'ann', 'odd']]);
    // Approved, then changed and approved again: both decisions are there.
    const twice = approveIn(again, READ, { ruling: { by: 'bob', at: 14 } });
    const third = take(twice, seen([{ ...changed, description: 'third' }]), { now: 15 });
    expect(decided(approveIn(third, READ, { ruling: { by: 'cid', at: 16 } }))).toEqual([
      ['approved', 'cid', undefined],
      ['rejected', 'ann', 'odd'],
      ['approved', 'bob', undefined],
    ]);
    // Approved after all, and rejected after all.
    const afterAll = approveIn(rejected, READ, { ruling: { by: 'bob', at: 14 } });
    expect(decided(afterAll)).toEqual([
      ['approved', 'bob', undefined],
      ['rejected', 'ann', 'odd'],
    ]);
    expect(decided(rejectIn(afterAll, READ, { ruling: { by: 'cid', at: 16 } }))).toEqual([
      ['rejected', 'cid', undefined],
      ['rejected', 'ann', 'odd'],
      ['approved', 'bob', undefined],
    ]);
  });

  it('SEC-9 does not approve a definition that changed since it was seen', () => {
    const again = take(asked, seen([{ ...changed, description: 'worse' }]), { now: 11 });
    expect(() => approveIn(again, READ, { ruling, expected: hashJson(changed) })).toThrow(
      expect.objectContaining({ code: 'TOOL_CHANGED' }),
    );
    expect(approvalsOf(again, 11).map(({ state }) => state)).toEqual(['pending', 'superseded']);
  });

  it('SEC-9 a rejected change stays out, is not asked for again, and can be approved after all', () => {
    const rejected = rejectIn(asked, READ, { ruling: { ...ruling, reason: 'exfiltrates' } });
    const verdict = judgeServer({ record: rejected }, {}, 'trust-first').judge(seenTool(changed));
    expect(verdict).toEqual({
      status: 'quarantined',
      hold: { cause: 'rejected', reason: 'it was rejected by ann: exfiltrates' },
    });
    expect(take(rejected, seen([changed]), { now: 20 })).toBe(rejected);
    expect(statusOf(rejected, DEFINITION)).toBe('enabled');
    expect(statusOf(approveIn(rejected, READ, { ruling }), changed)).toBe('enabled');
    const other = take(rejected, seen([{ ...changed, description: 'third' }]));
    expect(approvalsOf(other, 0)[0]).toMatchObject({ state: 'pending' });
  });

  it('SEC-9 rejecting something trusted takes the trust back', () => {
    const record = take(blank, seen([DEFINITION]));
    expect(statusOf(rejectIn(record, READ, { ruling }), DEFINITION)).toBe('pending');
    const server = rejectIn(record, { about: 'launch' }, { ruling });
    expect(holdServer({ id: 'notes', origin: 'user', launch: 'L' }, { record: server }, 'trust-first')).toMatchObject({
      state: 'rejected',
    });
    expect(() => rejectIn(record, { about: 'tool', tool: 'nope' }, { ruling })).toThrow(
      expect.objectContaining({ code: 'NOTHING_FOUND' }),
    );
  });

  it('SEC-9 a request expires after seven days and is renewed only when the server shows it again', () => {
    const late = 10 + EXPIRES_AFTER_MS + 1;
    expect(approvalsOf(asked, late)[0]).toMatchObject({ state: 'expired' });
    expect(() => approveIn(asked, READ, { ruling: { ...ruling, at: late } })).toThrow(
      expect.objectContaining({ code: 'APPROVAL_REQUIRED' }),
    );
    expect(statusOf(asked, changed)).toBe('quarantined');
    expect(take(asked, seen([changed]), { now: late, fresh: false })).toBe(asked);
    const renewed = take(asked, seen([changed]), { now: late });
    expect(approvalsOf(renewed, late)).toEqual([expect.objectContaining({ state: 'pending', requestedAt: late })]);
  });

  it('SEC-9 refuses to approve a subject without an approval request', () => {
    expect(() => approveIn(blank, READ, { ruling })).toThrow(expect.objectContaining({ code: 'NOTHING_FOUND' }));
  });

  it('SEC-9 whatever happens in whatever order, only a trusted hash is ever enabled', () => {
    const act = fc.record({
      kind: fc.constantFrom('see', 'approve', 'reject', 'wait'),
      description: fc.constantFrom('a', 'b', 'c'),
      policy: fc.constantFrom<ApprovalPolicy>('trust-first', 'manual'),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
        let record = blank;
        let now = 0;
        const trusted = new Set<string>();
        for (const { kind, description, policy } of acts) {
          now += kind === 'wait' ? EXPIRES_AFTER_MS + 1 : 1;
          const before: Standing = record.tools.get('read') ?? {};
          if (kind === 'see') {
            record = take(record, seen([{ name: 'read', description }]), { now, policy });
            const first = !before.trust && !before.ask && policy === 'trust-first';
            if (first) trusted.add(hashJson({ name: 'read', description }));
          }
          const isOpen = before.ask && (before.ask.state === 'rejected' || now - before.ask.at <= EXPIRES_AFTER_MS);
          if (kind === 'approve' && isOpen) {
            trusted.add(before.ask!.hash);
            record = approveIn(record, READ, { ruling: { by: 'x', at: now } });
          }
          if (kind === 'reject' && isOpen) record = rejectIn(record, READ, { ruling: { by: 'x', at: now } });
          for (const each of ['a', 'b', 'c']) {
            const definition = { name: 'read', description: each };
            const isEnabled = judgeServer({ record }, {}, 'manual').judge(seenTool(definition)).status === 'enabled';
            if (isEnabled) expect(trusted.has(hashJson(definition))).toBe(true);
          }
        }
      }),
    );
  });
});

describe('servers of unverified origin', () => {
  it.each(['project', 'registry', 'introspected'] as const)(
    'SEC-9 one from %s is held until it is approved',
    (origin) => {
      const server = { id: 'db', origin, launch: 'L' };
      expect(holdServer(server, {}, 'trust-first')).toMatchObject({ state: 'pending' });
      expect(holdServer(server, { unreadable: 'damaged' }, 'trust-first')).toMatchObject({ state: 'pending' });
      const record = { ...blank, origin, start: { trust: { hash: 'L', at: 0, ruling } } };
      expect(holdServer(server, { record }, 'trust-first')).toBeUndefined();
      expect(holdServer({ ...server, launch: 'M' }, { record }, 'trust-first')).toMatchObject({ state: 'pending' });
    },
  );

  it('SEC-9 with approval off a file of a project is trusted, but never what a caller or a registry proposed', () => {
    expect(holdServer({ id: 'db', origin: 'project', launch: 'L' }, {}, 'off')).toBeUndefined();
    expect(holdServer({ id: 'db', origin: 'registry', launch: 'L' }, {}, 'off')).toBeDefined();
    expect(holdServer({ id: 'db', origin: 'introspected', launch: 'L' }, {}, 'off')).toBeDefined();
  });

  it('SEC-9 what differs is named by its top-level fields', () => {
    expect(changedFields({ a: 1, b: [1], c: 2 }, { a: 1, b: [2], d: 3 })).toEqual(['b', 'c', 'd']);
    expect(changedFields({ a: { x: 1, y: 2 } }, { a: { y: 2, x: 1 } })).toEqual([]);
    expect(changedFields(undefined, { a: 1 })).toEqual([]);
  });
});
