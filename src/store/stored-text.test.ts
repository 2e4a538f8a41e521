import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromKey, fromName, toName } from './stored-text.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { codePoint } from '../../test/support/any-text.js';

describe('names in a column', () => {
  it('STORE-1 every name is written as JSON writes it, and comes back', COMPUTES_LONG, () => {
    const anything = fc.string({ unit: codePoint, maxLength: 12 });
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 12 });
    fc.assert(
      fc.property(fc.oneof(anything, ascii), (name) => {
        expect(toName(name)).toBe(JSON.stringify(name).slice(1, -1));
        expect(fromName(toName(name))).toBe(name);
        expect(fromKey(toName(name))).toBe(name);
      }),
      { numRuns: repetitions(500, 2000) },
    );
  });

  it.each(['a\u0000b', '\ud800', 'quo"te', 'back\\slash', 'line\n', 'ümlaut', ' ', '~', ''])(
    'STORE-1 a name that is not plain keeps apart from all others: %j',
    (name) => expect(fromName(toName(name))).toBe(name),
  );
});
