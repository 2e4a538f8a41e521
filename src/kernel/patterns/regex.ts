import { createRequire } from 'node:module';
import type { RE2JS } from 're2js';
import { messageOf } from '../errors.js';

/** A compiled regular expression whose time grows linearly with the text, whatever the expression. */
export interface LinearRegex {
  readonly source: string;
  /** Instructions of the compiled expression: at worst each of them looks at each character. */
  readonly size: number;
  /** Whether the expression matches anywhere in the text. */
  test(text: string): boolean;
  /** Where it matches, from left to right, as [start, end]; matches of nothing are left out. */
  spans(text: string): Array<readonly [start: number, end: number]>;
}

/** Compiling costs time and memory by length; the longest pattern seen in a real schema has 261 characters. */
const MAX_LENGTH = 20_000;

type Engine = (typeof import('re2js'))['RE2JS'];

let loaded: Engine | undefined;
/** Loaded with the first expression: most configs and schemas have none, and it takes more than a megabyte. */
const engine = (): Engine => (loaded ??= (createRequire(import.meta.url)('re2js') as typeof import('re2js')).RE2JS);

/** `g` and `u` change nothing here: a test has no position, and text is always read as code points. */
const FLAGS: ReadonlyMap<string, 'CASE_INSENSITIVE' | 'MULTILINE' | 'DOTALL' | undefined> = new Map([
  ['i', 'CASE_INSENSITIVE'],
  ['m', 'MULTILINE'],
  ['s', 'DOTALL'],
  ['g', undefined],
  ['u', undefined],
]);

/** What no linear-time engine can do; the engine itself would misread `\k<x>` as text. */
const UNSUPPORTED: ReadonlyArray<readonly [start: string, name: string]> = [
  ['(?=', 'lookahead'],
  ['(?!', 'lookahead'],
  ['(?<=', 'lookbehind'],
  ['(?<!', 'lookbehind'],
  ['(?>', 'atomic group'],
];

function findUnsupported(source: string): string | undefined {
  let inClass = false;
  for (let i = 0; i < source.length; i++) {
    const char = source[i];
    if (char === '\\') {
      const next = source[++i] ?? '';
      if (!inClass && (/[1-9]/.test(next) || (next === 'k' && source[i + 1] === '<'))) return 'backreference';
    } else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') {
      const found = UNSUPPORTED.find(([start]) => source.startsWith(start, i));
      if (found) return found[1];
    }
  }
  return undefined;
}

function readFlags(flags: string): number {
  let bits = 0;
  for (const [index, flag] of [...flags].entries()) {
    const name = FLAGS.get(flag);
    if (!FLAGS.has(flag)) throw new Error(`unknown flag "${flag}"; use ${[...FLAGS.keys()].join(', ')}`);
    if (flags.indexOf(flag) !== index) throw new Error(`flag "${flag}" is given twice`);
    if (name) bits |= engine()[name];
  }
  return bits;
}

function spansOf(compiled: RE2JS, text: string): Array<readonly [number, number]> {
  const spans: Array<readonly [number, number]> = [];
  // Most texts match nowhere, and to know that much is far cheaper than to ask where.
  if (!compiled.test(text)) return spans;
  const matcher = compiled.matcher(text);
  while (matcher.find()) if (matcher.end() > matcher.start()) spans.push([matcher.start(), matcher.end()]);
  return spans;
}

/**
 * Compiles a regular expression in JavaScript's syntax for the linear-time engine, so that neither
 * a config nor a server's schema can hang the process.
 *
 * @throws Error when the syntax is invalid, a flag is unknown, or a construct needs backtracking.
 */
export function compileRegex(source: string, flags = ''): LinearRegex {
  if (source.length > MAX_LENGTH) throw new Error(`the regular expression is longer than ${MAX_LENGTH} characters`);
  const bits = readFlags(flags);
  const unsupported = findUnsupported(source);
  if (unsupported) throw new Error(`a ${unsupported} is not supported: it cannot be matched in linear time`);
  let compiled: RE2JS;
  try {
    compiled = engine().compile(engine().translateRegExp(source), bits);
  } catch (thrown) {
    throw new Error(messageOf(thrown).replace(/^error parsing regexp: /, ''), { cause: thrown });
  }
  return {
    source,
    size: compiled.programSize(),
    test: (text) => compiled.test(text),
    spans: (text) => spansOf(compiled, text),
  };
}
