import { describe, expect, it } from 'vitest';
import type { Approval } from '../../api/types.js';
import {
  approvalOf,
  compareRisk,
  decidedText,
  decisionWord,
  evidenceText,
  meanwhileText,
  newness,
  readableJson,
  rejectedText,
  riskReasons,
  skippedText,
  takenBackText,
} from './approval-words.js';

describe('words of approvals', () => {
  it('STUDIO-1 tells what is new from what is not as it was trusted', () => {
    expect(newness({})).toEqual({ word: 'new', tone: 'info' });
    expect(newness({ pinned: 'h1' })).toEqual({ word: 'changed', tone: 'bad' });
  });

  it('STUDIO-1 A11 a sign that holds nothing back is no warning', () => {
    const reasons = ['changed after it was trusted', 'says that it only reads'];
    expect(riskReasons({ level: 'medium', reasons, informs: [reasons[1]!] })).toEqual({
      warnings: [reasons[0]],
      notes: [reasons[1]],
    });
    // Requests of earlier versions do not say which is which.
    expect(riskReasons({ level: 'medium', reasons })).toEqual({ warnings: reasons, notes: [] });
    expect(riskReasons({ level: 'low', reasons }).notes).toEqual(reasons);
  });

  it('STUDIO-1 SEC-9 names the field and the words of a sign', () => {
    expect(evidenceText({ path: '/inputSchema/properties/to', text: 'Obey.' })).toBe(
      ' in inputSchema/properties/to: “Obey.”',
    );
    expect([evidenceText({ path: '' }), evidenceText({})]).toEqual(['', '']);
  });

  it('STUDIO-1 SEC-9 finds the approval of a tool as it is now, which can be taken back', () => {
    const one = { about: 'tool', tool: 'pay', hash: 'h2', state: 'approved', ref: 'a:pay' } as Approval;
    expect(approvalOf([{ ...one, hash: 'h1' }, one], 'pay', 'h2')).toBe(one);
    expect(approvalOf([one, { ...one, state: 'rejected' }], 'pay', 'h1')).toBeUndefined();
    expect(takenBackText('a:pay')).toContain('Under Decided you can approve it again.');
  });

  it('STUDIO-1 SEC-9 says how many calls were made before a change was noticed', () => {
    const window = { since: 0, until: 7_200_000 };
    expect(meanwhileText({ ...window, count: 2 }, 7_500_000)).toBe(
      'The change was noticed 5 min ago; it was last known to be unchanged 2 h ago. 2 calls were made in between.',
    );
    expect(meanwhileText({ ...window, count: 0 }, 7_500_000)).toContain('No call was made in between.');
    expect(meanwhileText({ ...window, count: 1 }, 7_500_000)).toContain('1 call was made');
    expect(meanwhileText({ ...window, count: 1000, isMore: true }, 7_500_000)).toContain('At least 1,000 calls were');
  });

  it('STUDIO-1 puts the gravest request first', () => {
    const of = (ref: string, level: 'low' | 'medium' | 'high' | 'critical') => ({ ref, risk: { level, reasons: [] } });
    const all = [of('b', 'low'), of('a', 'low'), of('c', 'critical'), of('d', 'medium'), of('e', 'high')];
    expect(all.toSorted(compareRisk as never).map(({ ref }) => ref)).toEqual(['c', 'e', 'd', 'a', 'b']);
  });

  it.each([
    ['changed', 'a:b was skipped: it has changed since you looked.'],
    ['critical', 'a:b was skipped: its risk is critical.'],
    ['unseen', 'a:b was skipped: it was not shown.'],
  ])('STUDIO-1 says why nothing was decided: %s', (reason, text) => {
    expect(skippedText({ ref: 'a:b', reason } as never)).toBe(text);
  });

  it('STUDIO-1 tells a confirmed call that was made from one that was not yet', () => {
    expect(decisionWord('used')).toEqual(['approved and made', 'ok']);
    expect(decisionWord('approved')).toEqual(['approved', 'ok']);
    expect(decisionWord('rejected')).toEqual(['rejected', 'bad']);
    expect(decisionWord('expired')).toEqual(['not decided in time', 'quiet']);
    expect(decisionWord('superseded')).toEqual(['replaced before anyone decided', 'quiet']);
  });

  it('STUDIO-1 says where a rejected request can be approved after all', () => {
    expect(decidedText(['a:b', 'c'], 'approve')).toBe('2 requests approved. Under Decided you can take these back.');
    expect(decidedText(['a:b'], 'approve')).toBe('a:b approved. Under Decided you can take this back.');
    expect(decidedText(['a:b'], 'reject')).toBe('a:b rejected. Under Decided you can approve it after all.');
  });

  it.each([
    ['"two\\nlines"', 'two\nlines'],
    ['{"a":[1]}', '{\n  "a": [\n    1\n  ]\n}'],
    ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
    ['{"a":', '{"a":'],
    ['', ''],
  ])('STUDIO-1 shows a part of a definition line by line, and never another value: %s', (json, text) => {
    expect(readableJson(json)).toBe(text);
  });

  it('STUDIO-1 says who rejected a request and why', () => {
    expect(rejectedText({ ref: 'a:b', ruling: { by: 'ann', at: 0, reason: 'odd' } } as never)).toBe(
      'a:b was rejected by ann: odd. Agents do not get it unless you approve it after all.',
    );
    expect(rejectedText({ ref: 'a:b' })).toContain('a:b was rejected. Agents');
  });
});
