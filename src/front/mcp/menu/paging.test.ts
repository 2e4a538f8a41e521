import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.js';
import { pageOf } from './paging.js';

const list = (length: number): JsonObject[] => Array.from({ length }, (_, at) => ({ name: `t${at}` }));

describe('pages of a list', () => {
  it('META-5 a long list comes in pages that together are the list', () => {
    const all = list(2500);
    const seen: JsonObject[] = [];
    let cursor: string | undefined;
    do {
      const page = pageOf(all, 'name', cursor);
      seen.push(...page.items);
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
    expect(pageOf(list(3), 'name', undefined)).toEqual({ items: list(3) });
    expect(pageOf([], 'name', undefined)).toEqual({ items: [] });
  });

  it('META-5 a cursor of another list, or none at all, is refused', () => {
    const { nextCursor } = pageOf(list(1500), 'name', undefined);
    expect(() => pageOf(list(1501), 'name', nextCursor)).toThrow(/cursor/);
    for (const cursor of ['', '1', '-1000', '1e3', '1000.x', '9999999999', {}, 5, '__proto__']) {
      expect(() => pageOf(list(1500), 'name', cursor)).toThrow(/cursor/);
    }
  });
});
