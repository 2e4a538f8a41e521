import { describe, expect, it } from 'vitest';
import { AUDIT_KINDS } from '../../../src/model/audit-record.js';
import {
  countText,
  emptyText,
  endedText,
  KINDS,
  kindWord,
  OUTCOMES,
  recordWord,
  serverOptions,
  SINCE,
  sinceTime,
  storedOutcome,
  titleOf,
  withOutcome,
} from './audit-words.js';

describe('words of the audit log', () => {
  it('STUDIO-1 has a word for every kind, so that each can be filtered', () => {
    expect(KINDS.map(([kind]) => kind).toSorted()).toEqual(AUDIT_KINDS.toSorted());
    expect(kindWord('session-end')).toBe('session ended');
    expect(kindWord('constructor')).toBe('constructor');
  });

  it('STUDIO-1 SEC-11 tells that a confirmation was asked for from the answer', () => {
    const word = (detail?: unknown): string => recordWord({ kind: 'confirm', detail });
    expect(['asked', 'approved', 'rejected', 'unanswered'].map((decision) => word({ decision }))).toEqual([
      'confirmation asked',
      'call approved',
      'call rejected',
      'confirmation not answered',
    ]);
    for (const detail of [undefined, null, 'asked', {}, { decision: 'constructor' }, { decision: 1 }])
      expect(word(detail)).toBe('confirmation of a call');
    expect(recordWord({ kind: 'execution', detail: { decision: 'asked' } })).toBe('call');
  });

  it('STUDIO-1 names what a record is about', () => {
    expect(titleOf({ kind: 'execution', server: 'files', tool: 'read' })).toBe('files:read');
    expect(titleOf({ kind: 'discovered', server: 'files' })).toBe('files');
    expect(titleOf({ kind: 'reload' })).toBe('config read');
  });

  it('STUDIO-1 advises to loosen the filters only where there are some', () => {
    expect(emptyText({ kind: '', outcome: '', server: '' })).toContain('Run a tool');
    expect(emptyText({ kind: '', outcome: 'refused', server: '' })).toContain('Loosen the filters');
  });

  it('STUDIO-1 lets a server be chosen whose records are left', () => {
    expect(serverOptions(['a', 'b'], 'a')).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    expect(serverOptions(['a'], 'gone').map(([name]) => name)).toEqual(['a', 'gone']);
  });

  it('STUDIO-1 shows the records of an hour, of today or of a week', () => {
    const now = new Date(2026, 10, 18, 15, 30).getTime();
    expect(sinceTime('', now)).toBeUndefined();
    expect(sinceTime('hour', now)).toBe(new Date(2026, 10, 18, 14, 30).getTime());
    expect(sinceTime('today', now)).toBe(new Date(2026, 10, 18).getTime());
    expect(sinceTime('week', now)).toBe(now - 7 * 24 * 3_600_000);
    expect(SINCE.map(([name]) => name)).toEqual(['', 'hour', 'today', 'week']);
  });
});

it('STUDIO-1 what was cancelled is found by its own word and not among what failed', () => {
  const records = [
    { outcome: 'failure', code: 'CANCELLED' },
    { outcome: 'failure', code: 'TOOL_EXECUTION_ERROR' },
  ] as const;
  expect(storedOutcome('cancelled')).toBe('failure');
  expect(withOutcome(records, 'cancelled')).toEqual([records[0]]);
  expect(withOutcome(records, 'failure')).toEqual([records[1]]);
  expect(withOutcome(records, '')).toEqual(records);
  expect(OUTCOMES.map(([, word]) => word)).toContain('cancelled');
  expect([countText(1, 1, 500), countText(3, 500, 500), countText(500, 500, 500)]).toEqual([
    '1 record',
    '3 records of the newest 500',
    'The newest 500 records',
  ]);
});

it('STUDIO-1 says that the time of a call is its end', () => {
  const now = new Date(2026, 10, 18, 15, 30).getTime();
  expect(endedText({ time: now, latencyMs: 4 }, now)).toBe('ended 15:30:00');
  expect(endedText({ time: now }, now)).toBe('15:30:00');
});
