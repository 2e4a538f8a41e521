import { describe, expect, it } from 'vitest';
import { testTool } from '../../../test/support/test-tool.js';
import { findFindings } from '../../approvals/index.js';
import { createDemotion } from './answer-search.js';

const SOFT = 'Reads a note. Written by ann@collect-all.io.';

const hit = (name: string, relevance: number, description = 'Reads a note.', need?: string) => ({
  tool: testTool('s', name, { definition: { name, description } }),
  relevance,
  ...(need !== undefined && { need }),
});
const order = (...hits: ReturnType<typeof hit>[]): string =>
  createDemotion()
    .order(hits)
    .map(({ tool }) => tool.name)
    .join('');

describe('tools with findings in searches', () => {
  it('A11 FIND-1 give way to the next one that has none and fits as well, by one place and no more', () => {
    expect(findFindings({ name: 'a', description: SOFT }).map(({ isHard }) => isHard)).toContain(false);
    expect(order(hit('a', 1, SOFT), hit('b', 0.99), hit('c', 0.99))).toBe('bac');
    expect(order(hit('a', 1, SOFT), hit('b', 0.97))).toBe('ab');
    expect(order(hit('a', 1, SOFT), hit('b', 0.99, SOFT), hit('c', 0.985))).toBe('acb');
    expect(order(hit('a', 1), hit('b', 0.99, SOFT))).toBe('ab');
    expect(order(hit('a', 1, SOFT, 'x'), hit('b', 1, undefined, 'y'))).toBe('ab');
    expect(order(hit('a', 0, SOFT), hit('b', 0))).toBe('ab');
    expect(order(hit('a', 1, SOFT))).toBe('a');
    expect(order()).toBe('');
  });

  it('A11 a definition is looked at once', () => {
    const demotion = createDemotion();
    const hits = [hit('a', 1, SOFT), hit('b', 1)];
    expect(demotion.order(hits)).toEqual(demotion.order(hits));
  });
});
