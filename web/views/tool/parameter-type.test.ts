import { expect, it } from 'vitest';
import { parameterType } from './parameter-type.js';

it('STUDIO-1 names types as the form does, and the choices', () => {
  expect(parameterType('integer')).toBe('whole number');
  expect(parameterType('string | null')).toBe('text or nothing');
  expect(parameterType('string[]')).toBe('list of text');
  expect(parameterType('object[][] | null')).toBe('list of list of group or nothing');
  expect(parameterType('string', ['celsius', 'fahrenheit'])).toBe('one of celsius, fahrenheit');
});
