import type { Variables } from '../environment.js';

/** A text with its variables filled in, and what happened on the way. */
export interface Expansion {
  readonly text: string;
  /** Every value that was put in, defaults included: none of them may be shown. */
  readonly values: readonly string[];
  /** Names that were looked up. */
  readonly used: readonly string[];
  /** Why the text is not usable: variables that are not set, forms that are not known. */
  readonly problems: readonly string[];
}

/** One `${…}` in a text: a variable, perhaps with a default, or a form that is not ours. */
interface Reference {
  readonly start: number;
  readonly end: number;
  readonly name?: string;
  readonly fallback?: string;
  /** What may be shown of it: defaults can be credentials. */
  readonly shown: string;
}

function readReference(body: string, start: number, end: number): Reference {
  const form = /^(?:env:)?([A-Za-z_]\w*)(:-([^]*))?$/.exec(body);
  const fallback = form?.[3];
  if (form && !fallback?.includes('${')) {
    const written = form[2] === undefined ? body : body.slice(0, body.length - form[2].length);
    const shown = `\${${written}${form[2] === undefined ? '' : ':-***'}}`;
    return { start, end, name: form[1], fallback, shown };
  }
  const prefix = /^\w{0,20}:?/.exec(body)?.[0] ?? '';
  return { start, end, shown: `\${${prefix}…}` };
}

function findReferences(text: string): Reference[] {
  const found: Reference[] = [];
  for (let start = text.indexOf('${'); start !== -1;) {
    const close = text.indexOf('}', start);
    const end = close === -1 ? text.length : close + 1;
    const body = close === -1 ? '' : text.slice(start + 2, close);
    found.push(readReference(body, start, end));
    start = text.indexOf('${', end);
  }
  return found;
}

function replaceReferences(text: string, replace: (reference: Reference) => string): string {
  let out = '';
  let from = 0;
  for (const reference of findReferences(text)) {
    out += text.slice(from, reference.start) + replace(reference);
    from = reference.end;
  }
  return out + text.slice(from);
}

/** Whether a text is one variable without a default, and nothing else. */
export function isReference(text: string): boolean {
  return /^\$\{(?:env:)?[A-Za-z_]\w*\}$/.test(text);
}

/** What a text holds without any variable: its variables are gone, their defaults stay. */
export function literalPart(text: string): string {
  return replaceReferences(text, ({ fallback }) => fallback ?? '');
}

/** Names of the variables that a text uses. */
export function variablesIn(text: string): string[] {
  return findReferences(text).flatMap(({ name }) => (name === undefined ? [] : [name]));
}

/** The text as it was written, with the defaults of its variables hidden. */
export function hideDefaults(text: string): string {
  return replaceReferences(text, (reference) => reference.shown);
}

/** Why a variable counts as not set. */
function stateOf(value: string | undefined): string {
  return value === undefined ? 'not set' : value === '' ? 'empty' : 'blank';
}

/**
 * Fills in `${VAR}`, `${VAR:-default}` and `${env:VAR}` in one pass: what comes out of a variable is
 * never read again, and nothing is ever run (A31). A variable that is set to nothing, or to blanks alone, counts as not
 * set, so that no credential silently becomes empty; an explicit `${VAR:-}` may be empty.
 */
export function expand(text: string, env: Variables): Expansion {
  const values: string[] = [];
  const used: string[] = [];
  const problems: string[] = [];
  const out = replaceReferences(text, (reference) => {
    const { name } = reference;
    if (name === undefined) {
      problems.push(`uses ${reference.shown}, which cannot be expanded; write \${VAR} or \${VAR:-default}`);
      return text.slice(reference.start, reference.end);
    }
    used.push(name);
    const set = Object.hasOwn(env, name) ? env[name] : undefined;
    const value = set === undefined || set.trim() === '' ? reference.fallback : set;
    if (value === undefined) {
      problems.push(`needs the environment variable ${name}, which is ${stateOf(set)}`);
      return text.slice(reference.start, reference.end);
    }
    values.push(value);
    return value;
  });
  return { text: out, values, used, problems };
}
