import { ToolscoutError } from '../../kernel/errors.js';
import { LIMITS } from '../../kernel/limits.js';
import { printable } from '../../kernel/text.js';

/** A piece of RTFS text; `at` is where it begins. */
export type Form = { readonly at: number } & (
  | { readonly kind: 'list' | 'vector' | 'map'; readonly items: readonly Form[] }
  | { readonly kind: 'keyword' | 'symbol' | 'string'; readonly text: string }
  | { readonly kind: 'number'; readonly value: number }
);

/** RTFS text as forms, and the comments between them. */
export interface ParsedText {
  readonly forms: readonly Form[];
  readonly comments: ReadonlyArray<{ readonly at: number; readonly text: string }>;
}

/** Brackets inside brackets: a type needs two for each level of its schema. */
const DEPTH = 4 * LIMITS.depth;

const CLOSING: Readonly<Record<string, { readonly close: string; readonly kind: 'list' | 'vector' | 'map' }>> = {
  '(': { close: ')', kind: 'list' },
  '[': { close: ']', kind: 'vector' },
  '{': { close: '}', kind: 'map' },
};

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
]);

const NUMBER = /^[+-]?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?$/;

/** A complaint about a text that names the line and column. */
export function complainAt(text: string, at: number, message: string): ToolscoutError {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  const place = `line ${line}, column ${at - before.lastIndexOf('\n')}`;
  return new ToolscoutError('INVALID_REQUEST', `This RTFS cannot be read: ${place}: ${message}.`, {
    problems: [{ path: place, message }],
  });
}

/** Reads one string; `from` stands after its opening quote. */
function readString(text: string, from: number): { readonly value: string; readonly end: number } {
  let value = '';
  let kept = from;
  for (let at = from; at < text.length; at++) {
    if (text[at] === '"') return { value: value + text.slice(kept, at), end: at + 1 };
    if (text[at] !== '\\') continue;
    value += text.slice(kept, at);
    at += 1;
    const hex = text[at] === 'u' ? /^[0-9a-fA-F]{4}/.exec(text.slice(at + 1, at + 5))?.[0] : undefined;
    value += hex ? String.fromCharCode(Number.parseInt(hex, 16)) : (ESCAPES.get(text[at] ?? '') ?? text[at] ?? '');
    if (hex) at += 4;
    kept = at + 1;
  }
  throw complainAt(text, from - 1, 'this string has no end');
}

function wordForm(text: string, at: number, word: string): Form {
  if (word.startsWith(':')) {
    if (word.length === 1) throw complainAt(text, at, 'expected a name after ":"');
    return { at, kind: 'keyword', text: word.slice(1) };
  }
  return NUMBER.test(word) ? { at, kind: 'number', value: Number(word) } : { at, kind: 'symbol', text: word };
}

/** Cuts RTFS text into forms, in time linear to its length and without recursion. */
export function parseRtfs(text: string): ParsedText {
  if (text.length > LIMITS.listBytes) throw complainAt('', 0, `the text is longer than ${LIMITS.listBytes} characters`);
  const comments: Array<{ at: number; text: string }> = [];
  const top: Form[] = [];
  const open: Array<{ at: number; close: string; kind: 'list' | 'vector' | 'map'; items: Form[] }> = [];
  const add = (form: Form): unknown => (open.at(-1)?.items ?? top).push(form);
  const word = /[^\s,()[\]{}";]+/y;

  for (let at = 0; at < text.length;) {
    const char = text[at]!;
    const opening = Object.hasOwn(CLOSING, char) ? CLOSING[char] : undefined;
    if (/[\s,]/.test(char)) at += 1;
    else if (char === ';') {
      const end = text.indexOf('\n', at);
      const stop = end === -1 ? text.length : end;
      comments.push({ at, text: text.slice(at, stop) });
      at = stop;
    } else if (char === '#' && text[at + 1] === '|') {
      const end = text.indexOf('|#', at + 2);
      if (end === -1) throw complainAt(text, at, 'this comment has no end');
      at = end + 2;
    } else if (char === '"') {
      const { value, end } = readString(text, at + 1);
      add({ at, kind: 'string', text: value });
      at = end;
    } else if (opening) {
      if (open.length >= DEPTH) throw complainAt(text, at, `brackets nest deeper than ${DEPTH} levels`);
      open.push({ at, ...opening, items: [] });
      at += 1;
    } else if (char === ')' || char === ']' || char === '}') {
      const group = open.pop();
      if (group?.close !== char) throw complainAt(text, at, `this "${char}" closes nothing`);
      add({ at: group.at, kind: group.kind, items: group.items });
      at += 1;
    } else {
      word.lastIndex = at;
      const found = word.exec(text)?.[0] ?? char;
      add(wordForm(text, at, found));
      at += found.length;
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) throw complainAt(text, unclosed.at, `this bracket is not closed by "${unclosed.close}"`);
  return { forms: top, comments };
}

/** A form in a few words, for complaints. */
export function nameOf(form: Form | undefined): string {
  if (!form) return 'nothing';
  if (form.kind === 'number') return `the number ${form.value}`;
  return 'text' in form ? `the ${form.kind} ${printable(JSON.stringify(form.text.slice(0, 60)))}` : `a ${form.kind}`;
}
