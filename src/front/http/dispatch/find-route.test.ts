import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pathSegment } from '../../../../test/support/any-text.js';
import { COMPUTES_LONG } from '../../../../test/support/patience.js';
import { Address } from './find-route.js';

describe('the address of a request', () => {
  it('A1 is what the parser of addresses makes of it, whatever is in it', COMPUTES_LONG, () => {
    const piece = fc.constantFrom(
      'v1',
      'tools',
      '..',
      '.',
      '%2e%2e',
      '',
      'a b',
      '?q=1',
      '#x',
      '%2F',
      'x.json',
      '.well-known',
      '@',
      ':1',
    );
    const pieces = fc.array(fc.oneof(piece, pathSegment), { maxLength: 6 });
    const hosts = fc.constantFrom(
      '127.0.0.1',
      '127.0.0.1:7077',
      'localhost',
      '[::1]:80',
      'user@host',
      'host?',
      'host#',
    );
    fc.assert(
      fc.property(hosts, pieces, (host, parts) => {
        const text = `http://${host}/${parts.join('/')}`;
        fc.pre(URL.canParse(text));
        const { pathname, search } = new URL(text);
        const { path, isBare } = new Address(text);
        expect({ path, isBare }).toEqual({ path: pathname, isBare: search === '' });
      }),
    );
  });
});
