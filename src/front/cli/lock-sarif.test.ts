import { describe, expect, it } from 'vitest';
import type { Drift } from '../../model/lock.js';
import { changeLines } from './diff-lines.js';
import { describeDrift, toSarif } from './lock-sarif.js';
import { createTerminal } from './terminal.js';

const CHANGED: Drift = { server: 'notes', subject: 'tools', name: 'read', change: 'changed', changes: [], line: 12 };
const at = (path: string): Drift['changes'][number] => ({ path, before: 'a', after: 'b' });

describe('a difference from the lock file', () => {
  it('SEC-10 is one line that says where, of many places only the first ones', () => {
    expect(describeDrift(CHANGED)).toBe('notes: tool "read" changed');
    expect(describeDrift({ ...CHANGED, changes: [at('')] })).toBe('notes: tool "read" changed: the whole definition');
    const many = ['/a', '/b', '/c', '/d', '/e', '/f', '/g'].map(at);
    expect(describeDrift({ ...CHANGED, changes: many })).toBe(
      'notes: tool "read" changed: /a, /b, /c, /d, /e and 2 more',
    );
    // What came or went is not told field by field.
    expect(describeDrift({ ...CHANGED, change: 'added', changes: many })).toBe('notes: tool "read" added');
    const steered = describeDrift({ ...CHANGED, name: 'x\n\u001b[2Jy' });
    expect(steered.includes('\n') || steered.includes('\u001b')).toBe(false);
  });

  it('SEC-10 is a SARIF result at its line, with a fingerprint that names hold apart', () => {
    const { name: _none, ...launch } = { ...CHANGED, subject: 'launch' as const };
    const drifts = [CHANGED, launch, { ...CHANGED, server: 'notes/tools', subject: 'tools' as const }];
    const { runs } = toSarif({ ok: false, file: '/p/toolscout.lock', drifts }) as {
      runs: [{ results: Array<{ partialFingerprints: object; locations: object[]; ruleId: string }> }];
    };
    const { results } = runs[0];
    expect(results[0]).toMatchObject({
      ruleId: 'lock-changed',
      locations: [{ physicalLocation: { artifactLocation: { uri: 'toolscout.lock' }, region: { startLine: 12 } } }],
    });
    expect(new Set(results.map((each) => JSON.stringify(each.partialFingerprints))).size).toBe(3);
  });

  it('SEC-10 shows what came, what went, and of long texts the part that differs', () => {
    const terminal = createTerminal({ stdout: { write: () => true }, stderr: { write: () => true }, plain: true });
    expect(changeLines({ path: '', after: 'new' }, terminal)).toEqual(['  the whole definition', '  + new']);
    expect(changeLines({ path: '/a', before: 'old' }, terminal)).toEqual(['  /a', '  - old']);
    const [start, end] = ['s'.repeat(300), 'e'.repeat(300)];
    const [, before, after] = changeLines(
      { path: '/a', before: `${start}1${end}`, after: `${start}2${end}` },
      terminal,
    );
    expect([before, after]).toEqual(
      ['- ', '+ '].map((sign, index) => `  ${sign}…${'s'.repeat(40)}${index + 1}${'e'.repeat(40)}…`),
    );
    // What differs at the very start or end is not cut there.
    const [, cut] = changeLines({ path: '/a', before: `1${end}`, after: `2${end}` }, terminal);
    expect(cut).toBe(`  - 1${'e'.repeat(40)}…`);
    const [, tail] = changeLines({ path: '/a', before: `${start}1`, after: `${start}2` }, terminal);
    expect(tail).toBe(`  - …${'s'.repeat(40)}1`);
  });
});
