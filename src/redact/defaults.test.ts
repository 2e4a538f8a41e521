import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSecretForms } from './defaults.js';

const SECRETS = [
  'password=hunter2',
  'api_key: abc',
  'Bearer abcdefgh12',
  'ghp_0123456789abcdef0',
  'AKIA0123456789abcdef',
  'https://me:pass@host',
  'eyJhbGciOiJI.eyJz',
];

describe('findSecretForms', () => {
  it('NEG-6 finds the same in a short text as in a long one', () => {
    const word = fc.oneof(fc.constantFrom(...SECRETS), fc.string({ maxLength: 12 }));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const text = words.join(' ');
        const long = `${text}\n${'.'.repeat(200)}`;
        const within = findSecretForms(long).filter(([, end]) => end <= text.length);
        expect(findSecretForms(text)).toEqual(within);
      }),
    );
  });

  it.each(SECRETS)('NEG-6 finds %s, alone and in a long text', (secret) => {
    expect(findSecretForms(secret)).toHaveLength(1);
    expect(findSecretForms(`${'x '.repeat(100)}${secret}`)).toHaveLength(1);
  });
});
