import { describe, expect, it } from 'vitest';
import { decidedAt } from './why-words.js';

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
});
