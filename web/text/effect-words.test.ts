import { expect, it } from 'vitest';
import { effectsOf } from './effect-words.js';

it('STUDIO-1 every tool says what its effects are, also that it does not say', () => {
  const all = [{ destructive: true, readOnly: false }, { readOnly: true }, { readOnly: false }, {}];
  expect(all.map((each) => effectsOf(each)[0])).toEqual([
    'may delete or overwrite',
    'says that it only reads',
    'says that it may change something',
    'does not say whether it changes anything',
  ]);
});
