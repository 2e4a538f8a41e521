import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findConfusableIds, isServerId, suggestServerId } from './server-id.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { codePoint } from '../../../test/support/any-text.js';

describe('server ids', () => {
  it.each([
    ['gіthub', 'github'],
    ['caf\u00e9', 'cafe'],
    ['cafe\u0301', 'cafe'],
    ['a:b', 'a-b'],
    ['my server!', 'my-server'],
    ['../../etc', 'etc'],
    ['日本', 'server'],
    ['', 'server'],
    ['..', 'server'],
    ['x'.repeat(70), 'x'.repeat(64)],
    ['a\r\nb', 'a-b'],
    ['ＧｉｔＨｕｂ', 'GitHub'],
  ])('A14 %j is refused and %s suggested', (id, suggestion) => {
    expect(isServerId(id)).toBe(false);
    expect(suggestServerId(id)).toBe(suggestion);
  });

  it('CFG-3 a suggestion is always an allowed id', COMPUTES_LONG, () => {
    fc.assert(fc.property(fc.string({ unit: codePoint }), (name) => isServerId(suggestServerId(name))));
  });

  it('CFG-3 an allowed id is its own suggestion', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,40}[A-Za-z0-9]$/), (id) => {
        expect(isServerId(id)).toBe(true);
        expect(suggestServerId(id)).toBe(id);
      }),
    );
  });

  it.each([
    ['github', 'GitHub'],
    ['github', 'g1thub'],
    ['linear', 'Iinear'],
    ['modern', 'modem'],
    ['o365', '0365'],
    ['my-server', 'my_server'],
  ])('A14 %s and %s are flagged', (one, other) => {
    expect(findConfusableIds([one, 'unrelated', other], 'servers')).toMatchObject([
      { path: expect.stringContaining(other) as string, message: expect.stringContaining(`"${one}"`) as string },
    ]);
  });

  it('A14 ids that differ are not flagged', () => {
    expect(findConfusableIds(['github', 'gitlab', 'slack', 'fs', 'fs2'], 'servers')).toEqual([]);
  });
});
