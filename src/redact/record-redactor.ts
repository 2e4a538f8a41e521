import type { PathState } from '../kernel/patterns/field-glob.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { MASK } from '../kernel/secrets.js';
import { hashMark } from './hash-marks.js';
import type { Action, Matchers } from './rules.js';
import { createTextRedactor, type RedactText, type TextRule } from './text.js';

/** Longest text that is kept whole in a record. */
const TEXT = 200;
/** Most items of a list or fields of an object. */
const WIDTH = 50;
/** Deepest nesting that is kept. */
const DEPTH = 8;
/** Characters, names included, after which everything else is left out. */
const SIZE = 16_384;
/** Characters of a long text that are looked at; far fewer are kept. */
const LOOKED_AT = 65_536;
/** Neither a secret in use nor a form of one is shorter. */
const MIN_SECRET = 5;
/** Smaller numbers are too common to be a secret. */
const SMALL_NUMBER = 100_000;

const LEFT_OUT = '…';

/** A value as it may stand in a record or in the log. */
export type RedactRecord = (value: JsonValue) => JsonValue;

interface Walk {
  readonly fields: Matchers['fields'];
  readonly text: RedactText;
  readonly name: (name: string) => string;
  left: number;
}

/** Finds the default forms and the secrets in use. */
export interface SecretFinder {
  readonly forms: readonly TextRule[];
  readonly hide: (text: string) => string;
}

/**
 * Makes values fit for the audit log, a pending call, the log and Studio: what a rule matches is redacted, long texts are
 * cut with their length noted, and width, depth and size are bounded. Takes anything, never throws on JSON, and changes
 * nothing when applied again. Results of calls, also kept ones, are redacted by `whole-redactor.ts`.
 *
 * Hardly any record holds a secret that its field does not give away. So the texts are gathered on a first walk and
 * looked through in one piece; only where something is found there, a second walk looks at each of them.
 */
export function createRecordRedactor(
  { fields, texts }: Matchers,
  { forms, hide }: SecretFinder,
  longest = TEXT,
): RedactRecord {
  const bounded = (redact: RedactText): RedactText => {
    return (value) => redact(value.length > LOOKED_AT ? cut(value, LOOKED_AT) : value);
  };
  const shorten = (text: string): string => (text.length <= longest ? text : cut(text, longest));
  const quick = texts.length === 0 ? shorten : bounded(createTextRedactor(texts, shorten));
  const careful = bounded(createTextRedactor([...texts, ...forms], (text) => shorten(hide(text))));
  const hasSecret = (text: string): boolean => hide(text) !== text || forms.some(({ spans }) => spans(text).length > 0);

  return (value) => {
    const seen: string[] = [];
    const note = (given: string, shown: string | undefined): void => {
      seen.push(given.length > LOOKED_AT ? given.slice(0, LOOKED_AT) : given);
      // A cut or a replacement may have produced a new match.
      if (shown !== undefined && shown !== given) seen.push(shown);
    };
    const first = redactValue(value, 0, fields.root, {
      fields,
      text(given) {
        const shown = quick(given);
        if (given.length >= MIN_SECRET) note(given, shown);
        return shown;
      },
      name(given) {
        const shown = cut(given);
        note(given, shown);
        return shown;
      },
      left: SIZE,
    });
    const name = (given: string): string => cut(hide(given));
    const shown = hasSecret(seen.join('\n'))
      ? redactValue(value, 0, fields.root, { fields, text: careful, name, left: SIZE })
      : first;
    return shown === undefined ? MASK : shown;
  };
}

/**
 * The budget counts what comes out, in the order it comes out: a second pass over the result then stops at the same
 * place. `undefined` says that the value goes. What needs no change is the same object.
 */
function redactValue(value: unknown, depth: number, state: PathState<Action>, walk: Walk): JsonValue | undefined {
  if (walk.left <= 0) return LEFT_OUT;
  walk.left -= 1;
  if (typeof value === 'string') return spend(walk.text(value), walk);
  if (typeof value === 'number') return redactNumber(value, walk);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value === 'bigint') return spend(walk.text(String(value)), walk);
  if (typeof value !== 'object') return null;
  if (depth >= DEPTH) return spend(walk.text(Array.isArray(value) ? '[list]' : '[object]'), walk);
  if (!Array.isArray(value)) return redactFields(value as Record<string, unknown>, depth, state, walk);
  const items = narrow(value);
  let copy: JsonValue[] | undefined = items === value ? undefined : [];
  for (let at = 0; at < items.length; at++) {
    const redacted = redactValue(items[at], depth + 1, state, walk);
    if (copy === undefined && redacted !== items[at]) copy = (items as JsonValue[]).slice(0, at);
    if (copy !== undefined && redacted !== undefined) copy.push(redacted);
  }
  return copy ?? (items as JsonValue[]);
}

/** Whether an object consists of its fields alone; others may have a `toJSON` of their own. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function redactFields(value: Record<string, unknown>, depth: number, state: PathState<Action>, walk: Walk): JsonObject {
  const { fields } = walk;
  const names = Object.keys(value);
  const isWide = names.length > WIDTH;
  const count = isWide ? WIDTH - 1 : names.length;
  let copy: JsonObject | undefined = isPlain(value) ? undefined : {};
  for (let i = 0; i < count; i++) {
    const name = names[i]!;
    const field = value[name];
    if (field === undefined) continue;
    const short = name.length < MIN_SECRET ? name : walk.name(name);
    let at = fields.step(state, name);
    if (short !== name) {
      // What is read again has the short name, and must not be redacted any further for it.
      at = fields.merge(at, fields.step(state, short));
      if (Object.hasOwn((copy ??= firstOf(value, names, i)), short)) continue;
    }
    const shown = at.hit === 'drop' ? undefined : keep(short, field, at, depth, walk);
    if (copy === undefined && shown !== field) copy = firstOf(value, names, i);
    if (copy !== undefined && shown !== undefined) define(copy, short, shown);
  }
  if (!isWide) return copy ?? (value as JsonObject);
  copy ??= firstOf(value, names, count);
  const at = fields.step(state, LEFT_OUT);
  if (at.hit === 'drop' || Object.hasOwn(copy, LEFT_OUT)) return copy;
  const more = keep(LEFT_OUT, `${names.length - count} more`, at, depth, walk);
  if (more !== undefined) define(copy, LEFT_OUT, more);
  return copy;
}

/** One field with its name; what goes costs nothing. */
function keep(name: string, field: unknown, at: PathState<Action>, depth: number, walk: Walk): JsonValue | undefined {
  const before = walk.left;
  walk.left -= name.length;
  const shown = redactValue(at.hit === undefined ? field : replace(field, at.hit), depth + 1, at, walk);
  if (shown === undefined) walk.left = before;
  return shown;
}

/** A copy of the first fields of an object. */
function firstOf(value: Record<string, unknown>, names: readonly string[], count: number): JsonObject {
  const copy: JsonObject = {};
  for (let i = 0; i < count; i++) {
    const name = names[i]!;
    if (value[name] !== undefined) define(copy, name, value[name] as JsonValue);
  }
  return copy;
}

/** A field may have any name; this one would change the object itself. */
function define(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** What stands in the place of a field; a value that is not JSON has nothing to be told apart by. */
function replace(field: unknown, action: Action): string {
  const isPlain = typeof field === 'string' || typeof field === 'number' || typeof field === 'boolean';
  if (action === 'hash' && (isPlain || (typeof field === 'object' && field !== null))) {
    return hashMark(field as JsonValue);
  }
  return MASK;
}

function redactNumber(value: number, walk: Walk): JsonValue | undefined {
  if (!Number.isFinite(value)) return null;
  if (Math.abs(value) < SMALL_NUMBER) return value;
  const plain = String(value);
  const shown = walk.text(plain);
  return shown === plain ? value : spend(shown, walk);
}

function narrow(items: readonly unknown[]): readonly unknown[] {
  if (items.length <= WIDTH) return items;
  return [...items.slice(0, WIDTH - 1), `${LEFT_OUT} ${items.length - WIDTH + 1} more`];
}

function cut(text: string, length = TEXT): string {
  if (text.length <= length) return text;
  const note = `${LEFT_OUT} [${text.length} characters]`;
  // The note stands inside the limit, so that a cut text is not cut again. No half of a pair stays behind.
  return text.slice(0, length - note.length).replace(/[\ud800-\udbff]$/, '') + note;
}

function spend(text: string | undefined, walk: Walk): string | undefined {
  walk.left -= text?.length ?? 0;
  return text;
}
