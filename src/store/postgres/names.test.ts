import { describe, expect, it } from 'vitest';
import { indexedName, readName } from './names.js';

describe('names in an index', () => {
  it.each(['plain', 'ümlaut', 'a\u0000b', 'sha256:x', 'x'.repeat(500), '"'.repeat(300), ''])(
    'STORE-3 come back as they were written: %j',
    (name) => {
      const { index, whole } = indexedName(name);
      expect(index.length).toBeLessThanOrEqual(400);
      expect(readName(index, whole)).toBe(name);
    },
  );

  it.each<[string, string, string | null]>([
    ['another spelling', '\\u0061', null],
    ['the place of another name', 'a', 'b'],
    ['a hash without its name', indexedName('x'.repeat(500)).index, null],
    ['the hash of another name', indexedName('x'.repeat(500)).index, 'y'.repeat(500)],
  ])('STORE-3 A48 are none in %s', (_what, index, whole) => expect(readName(index, whole)).toBeUndefined());
});
