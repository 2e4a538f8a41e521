import { expect, it } from 'vitest';
import { statusWord } from './status-word.js';

it('STUDIO-1 has one word for what waits, and another one for what was rejected', () => {
  expect(statusWord('pending')[0]).toBe(statusWord('quarantined')[0]);
  expect(statusWord('rejected')).toEqual(['rejected', 'bad']);
  expect(statusWord('enabled')).toEqual(['offered', 'ok']);
});
