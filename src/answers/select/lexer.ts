import type { JsonValue } from '../../kernel/json.js';
import { SelectSyntaxError } from './expression.js';

/** One piece of an expression; marks are their own type. */
export interface Token {
  readonly type: 'name' | 'quoted' | 'literal' | 'number' | 'end' | Mark;
  /** The name, the number or the literal. */
  readonly value: JsonValue;
  readonly at: number;
  /** Characters. */
  readonly length: number;
}

/** Operators and brackets, the longer ones first. */
const MARKS = [
  '[?',
  '[]',
  '==',
  '!=',
  '<=',
  '>=',
  '&&',
  '||',
  '.',
  '*',
  ',',
  ':',
  '{',
  '}',
  ']',
  '[',
  '(',
  ')',
  '@',
  '&',
  '|',
  '<',
  '>',
  '!',
] as const;
/** One of the operators and brackets. */
export type Mark = (typeof MARKS)[number];

/** What people mean by a character that other languages have. */
const HINTS: Readonly<Record<string, string>> = {
  '=': '; equality is written ==',
  $: '; begin with the name of a field, or with @ for the whole',
  '-': '; a name with other characters than letters, digits and _ is written in double quotes',
};

const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const NUMBER = /-?[0-9]+/y;
const SPACE = /[ \t\r\n]+/y;

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** Where a text in quotes ends; a backslash takes the next character with it. */
function endOfQuoted(text: string, start: number): number {
  const quote = text[start];
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === quote) return at + 1;
  }
  throw new SelectSyntaxError(`the ${quote} has no closing ${quote}`, start);
}

/** A JSON value between backticks; anything that is not JSON is a text, as older libraries have it. */
function literalIn(written: string): JsonValue {
  const inner = written.slice(1, -1).replaceAll('\\`', '`');
  try {
    return JSON.parse(inner) as JsonValue;
  } catch {
    return inner.trimStart();
  }
}

function quotedName(written: string, at: number): string {
  try {
    return JSON.parse(written) as string;
  } catch {
    throw new SelectSyntaxError('the name in double quotes is not a JSON string', at);
  }
}

function tokenAt(text: string, at: number): Token {
  const token = (type: Token['type'], value: JsonValue, length: number): Token => ({ type, value, at, length });
  const first = text[at]!;
  if (first === '"' || first === "'" || first === '`') {
    const written = text.slice(at, endOfQuoted(text, at));
    if (first === '"') return token('quoted', quotedName(written, at), written.length);
    const value = first === '`' ? literalIn(written) : written.slice(1, -1).replaceAll("\\'", "'");
    return token('literal', value, written.length);
  }
  const name = match(NAME, text, at);
  if (name !== undefined) return token('name', name, name.length);
  const number = match(NUMBER, text, at);
  if (number !== undefined) return token('number', Number(number), number.length);
  const mark = MARKS.find((each) => text.startsWith(each, at));
  if (mark !== undefined) return token(mark, mark, mark.length);
  const hint = HINTS[first] ?? '';
  throw new SelectSyntaxError(`${JSON.stringify(first)} is not part of JMESPath${hint}`, at);
}

/** The pieces of an expression, the last of them `end`. */
export function readTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const space = match(SPACE, text, at);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = tokenAt(text, at);
    tokens.push(token);
    at += token.length;
  }
  tokens.push({ type: 'end', value: null, at: text.length, length: 0 });
  return tokens;
}
