import { compileRegex, type LinearRegex } from './regex.js';

/** Whether an entry of a redaction rule is a pattern on values, not a glob on fields. */
export function isValuePattern(text: string): boolean {
  return text.startsWith('/');
}

/**
 * Compiles `/regex/flags` for the linear-time engine.
 *
 * @throws Error that says what is wrong with it.
 */
export function compileValuePattern(text: string): LinearRegex {
  const end = text.lastIndexOf('/');
  if (end <= 0) throw new Error('a pattern on values ends with "/", as in /BUD-[0-9]+/');
  if (end === 1) throw new Error('it is empty');
  const compiled = compileRegex(text.slice(1, end), text.slice(end + 1));
  if (compiled.test('')) throw new Error('it matches the empty text, and so every text');
  return compiled;
}
