import { describe, expect, it } from 'vitest';
import { MAX_PAST, type Ask, type Past, type TrustRecord } from './record.js';
import { approvalsOf, approveIn, askedSubjects, checkHash, rejectIn, standingOf, withStanding } from './rulings.js';

const A = `${'a'.repeat(40)}${'0'.repeat(24)}`;
const B = `${'b'.repeat(40)}${'1'.repeat(24)}`;
const L = 'c'.repeat(64);
const ruling = { by: 'ann', at: 50 };
const ask = (hash: string, more: Partial<Ask> = {}): Ask => ({
  hash,
  at: 10,
  state: 'pending',
  risk: { level: 'high', reasons: ['deletes'] },
  changed: ['description'],
  ...more,
});
const RECORD: TrustRecord = {
  version: 1,
  server: 'notes',
  launch: L,
  origin: 'project',
  target: 'notes-mcp',
  start: { ask: ask(L) },
  presentation: { trust: { hash: A, at: 1 }, ask: ask(B) },
  tools: new Map([
    ['read', { trust: { hash: A, at: 1, ruling: { by: 'bob', at: 1 } }, ask: ask(B) }],
    ['list', { trust: { hash: A, at: 2 } }],
  ]),
  past: [],
};
const LAUNCH = { about: 'launch' } as const;
const INSTRUCTIONS = { about: 'instructions' } as const;
const READ = { about: 'tool', tool: 'read' } as const;
const LIST = { about: 'tool', tool: 'list' } as const;

describe('the hash that a person gives', () => {
  it.each(['', 'a'.repeat(11), 'a'.repeat(65), `${'a'.repeat(12)}g`, ` ${'a'.repeat(12)}`, `${'a'.repeat(12)}\n`])(
    'A41 %j is refused: too short, too long or no hash',
    (hash) => {
      expect(() => checkHash(hash)).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST', message: expect.stringContaining('12 to 64') as string }),
      );
      expect(() => approveIn(RECORD, READ, { ruling, expected: hash })).toThrow(
        expect.objectContaining({ code: 'INVALID_REQUEST' }),
      );
    },
  );

  it('A41 twelve characters are enough, in either case, and the whole hash is fine', () => {
    expect(checkHash('ABCDEF012345')).toBe('abcdef012345');
    expect(checkHash(A)).toBe(A);
    expect(approveIn(RECORD, READ, { ruling, expected: 'B'.repeat(12) }).tools.get('read')?.trust?.hash).toBe(B);
  });
});

describe('what a ruling is about', () => {
  it('SEC-9 each subject has its own standing, and replacing one leaves the others', () => {
    expect([LAUNCH, INSTRUCTIONS, READ].map((subject) => standingOf(RECORD, subject))).toEqual([
      RECORD.start,
      RECORD.presentation,
      RECORD.tools.get('read'),
    ]);
    expect(standingOf(RECORD, { about: 'tool', tool: 'none' })).toEqual({});
    const standing = { trust: { hash: B, at: 9 } };
    expect(withStanding(RECORD, LAUNCH, standing)).toEqual({ ...RECORD, start: standing });
    expect(withStanding(RECORD, INSTRUCTIONS, standing)).toEqual({ ...RECORD, presentation: standing });
    const replaced = withStanding(RECORD, READ, standing);
    expect([...replaced.tools]).toEqual([
      ['read', standing],
      ['list', RECORD.tools.get('list')],
    ]);
    expect(RECORD.tools.get('read')).not.toBe(standing);
  });

  it('SEC-9 everything with a request is asked about, the server before its tools', () => {
    expect(askedSubjects(RECORD)).toEqual([LAUNCH, INSTRUCTIONS, READ]);
    expect(askedSubjects({ ...RECORD, start: {}, presentation: {} })).toEqual([READ]);
  });
});

describe('approving', () => {
  it('SEC-9 pins what was asked for and remembers what was trusted before, the newest fifty of it', () => {
    const past = Array.from({ length: MAX_PAST }, (_, at): Past => ({ about: 'launch', hash: `h${at}`, at }));
    const approved = approveIn({ ...RECORD, past }, READ, { ruling });
    expect(approved.tools.get('read')).toEqual({ trust: { hash: B, at: 50, ruling } });
    expect(approved.past).toHaveLength(MAX_PAST);
    expect(approved.past.slice(-2)).toEqual([
      past.at(-1),
      { about: 'tool', tool: 'read', hash: A, at: 1, ruling: { by: 'bob', at: 1 }, was: 'approved' },
    ]);
    const described = approveIn(RECORD, INSTRUCTIONS, { ruling });
    expect(described.past).toEqual([{ about: 'instructions', hash: A, at: 1, was: 'trusted' }]);
    expect(approveIn(RECORD, LAUNCH, { ruling })).toMatchObject({ start: { trust: { hash: L, ruling } }, past: [] });
  });

  it('A41 the hash of a subject counts before the hash of all, and another definition is refused with its hash', () => {
    const subject = { ...READ, expected: B.slice(0, 12) };
    expect(approveIn(RECORD, subject, { ruling, expected: A }).tools.get('read')?.trust?.hash).toBe(B);
    expect(() => approveIn(RECORD, { ...READ, expected: A }, { ruling, expected: B })).toThrow(
      expect.objectContaining({
        code: 'TOOL_CHANGED',
        message: `The hash of "notes:read" is ${B}, not ${A}: it changed after it was shown, or the given hash is wrong.`,
      }),
    );
    expect(() => approveIn(RECORD, { ...LAUNCH, expected: A }, { ruling })).toThrow('The hash of "notes" is');
    expect(() => approveIn(RECORD, LIST, { ruling })).toThrow('"notes:list" has no pending approval request.');
  });
});

describe('rejecting', () => {
  it('SEC-9 a request is rejected and what was trusted before stays trusted', () => {
    expect(rejectIn(RECORD, READ, { ruling }).tools.get('read')).toEqual({
      trust: RECORD.tools.get('read')?.trust,
      ask: ask(B, { state: 'rejected', ruling }),
    });
    expect(rejectIn(RECORD, LAUNCH, { ruling }).start).toEqual({ ask: ask(L, { state: 'rejected', ruling }) });
  });

  it('A41 without a request the trust is taken back, when it is the trust that was shown', () => {
    const revoked = rejectIn(RECORD, { ...LIST, expected: A }, { ruling });
    expect(revoked.tools.get('list')).toEqual({
      ask: { hash: A, at: 50, state: 'rejected', risk: { level: 'low', reasons: [] }, changed: [], ruling },
    });
    // The end of a hash is not its beginning.
    for (const given of [{ ...LIST, expected: B }, { ...LIST, expected: A.slice(-24) }, LIST]) {
      expect(() => rejectIn(RECORD, given, { ruling, expected: B })).toThrow(
        expect.objectContaining({ code: 'TOOL_CHANGED' }),
      );
    }
    expect(() => rejectIn(RECORD, LIST, { ruling, expected: 'aaa' })).toThrow(
      expect.objectContaining({ code: 'INVALID_REQUEST' }),
    );
    // A launch is known by its own hash, also before anybody asked for it.
    const launched = rejectIn({ ...RECORD, start: {} }, LAUNCH, { ruling, expected: L });
    expect(launched.start).toMatchObject({ ask: { hash: L, state: 'rejected' } });
    expect(() => rejectIn({ ...RECORD, presentation: {} }, INSTRUCTIONS, { ruling })).toThrow(
      expect.objectContaining({ code: 'NOTHING_FOUND' }),
    );
  });
});

describe('the list of approvals', () => {
  it('SEC-9 names each request and each decision with its subject, state, hash and risk', () => {
    const past: Past[] = [
      { about: 'tool', tool: 'old', hash: A, at: 3, ruling, was: 'rejected' },
      { about: 'instructions', hash: B, at: 4 },
    ];
    const of = { server: 'notes', origin: 'project', target: 'notes-mcp' };
    const tool = { ...of, ref: 'notes:read', tool: 'read', about: 'tool' };
    const asked = { requestedAt: 10, risk: { level: 'high', reasons: ['deletes'] }, changed: ['description'] };
    const none = { risk: { level: 'low', reasons: [] }, changed: [] };
    expect(approvalsOf({ ...RECORD, past }, 20)).toEqual([
      { ...of, ref: 'notes', about: 'launch', state: 'pending', hash: L, ...asked },
      { ...of, ref: 'notes', about: 'instructions', state: 'pending', hash: B, pinned: A, confirmedAt: 1, ...asked },
      { ...tool, state: 'approved', hash: A, requestedAt: 1, ruling: { by: 'bob', at: 1 }, ...none },
      { ...tool, state: 'pending', hash: B, pinned: A, confirmedAt: 1, ...asked },
      {
        ...of,
        ref: 'notes:old',
        tool: 'old',
        about: 'tool',
        state: 'superseded',
        hash: A,
        requestedAt: 3,
        ruling,
        was: 'rejected',
        ...none,
      },
      { ...of, ref: 'notes', about: 'instructions', state: 'superseded', hash: B, requestedAt: 4, ...none },
    ]);
    const rejected = rejectIn(RECORD, LAUNCH, { ruling });
    expect(approvalsOf(rejected, 20)[0]).toMatchObject({ state: 'rejected', ruling });
  });
});
