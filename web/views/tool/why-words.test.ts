import { describe, expect, it } from 'vitest';
import { decidedAt, headingOf, isUnknownServer } from './why-words.js';

describe('where it is decided that a tool is not offered', () => {
  it.each([
    ['approval', '#/approvals/files%3Aread'],
    ['quarantine', '#/approvals/files%3Aread'],
    ['rejected', '#/approvals/files%3Aread'],
    ['rule', '#/rules'],
    ['server', undefined],
  ] as const)('STUDIO-1 leads to the view that decides: %s', (because, href) => {
    expect(decidedAt('files', 'read', { because } as never)?.href).toBe(href);
  });

  it('STUDIO-1 a tool that is not there is told from one that agents do not get', () => {
    const unknown = { because: 'server', reason: 'No server "x" is configured.' } as const;
    const off = { because: 'server', reason: 'Server "x" is off: it is disabled.' } as const;
    expect([unknown, off].map(isUnknownServer)).toEqual([true, false]);
    expect(headingOf(unknown)).toBe('There is no such tool.');
    expect(headingOf({ because: 'unknown-tool', reason: 'r' })).toBe('There is no such tool.');
    expect(headingOf(off)).toBe('Agents do not get this tool.');
  });
});
