import type { PathState } from '../kernel/patterns/field-glob.js';
import { isDeeperThan, type JsonObject, type JsonValue } from '../kernel/json.js';
import { MASK } from '../kernel/secrets.js';
import { hashMark } from './hash-marks.js';
import type { Action, Matchers } from './rules.js';
import { createTextRedactor } from './text.js';

/** Values that pass through a call are redacted whole: nothing is cut, and what no rule matches is the same object. */
export interface WholeRedactor {
  /** Outgoing arguments. */
  arguments(value: JsonObject): JsonObject;
  /** A result; paths begin at the result, and again at its structured content. */
  result(value: JsonObject): JsonObject;
  /** One text: a message, a reason. */
  text(value: string): string;
  /** Any value; paths begin at it. */
  value(value: JsonValue): JsonValue;
  /** Whether a field of this name, at the beginning of a path, is about something that is taken out. */
  isAbout(name: string): boolean;
}

/** Nesting that is walked, JSON within texts included; what lies deeper is masked, unseen. */
const MAX_DEPTH = 256;

/** Longer texts are not read as JSON; patterns on values still see them. */
const MAX_JSON = 8 * 1024 * 1024;

/** What one pass has joined may match again; after so many a text goes whole. */
const MAX_ROUNDS = 4;

type ActionState = PathState<Action>;

function parse(text: string): JsonValue | undefined {
  if (text.length > MAX_JSON || !/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Text that merely begins like JSON is text.
    return undefined;
  }
}

/** A walk over whole values under joined rules. `undefined` stands for a value that goes. */
export function createWholeRedactor({ fields, texts }: Matchers): WholeRedactor {
  const redactText = createTextRedactor(texts, (text) => text);

  /** A text that is JSON holds fields like any other value, and their paths begin in it. */
  const redactJson = (text: string, depth: number): string => {
    const parsed = parse(text);
    if (parsed === undefined) return text;
    if (isDeeperThan(parsed, MAX_DEPTH - depth)) return MASK;
    const redacted = redactValue(parsed, fields.root, depth + 1);
    if (redacted === parsed) return text;
    return JSON.stringify(redacted, null, text.includes('\n') ? 2 : undefined);
  };
  const redactString = (text: string, depth: number): string | undefined => {
    let shown = text;
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      const next = redactText(redactJson(shown, depth));
      if (next === undefined || next === shown) return next;
      shown = next;
    }
    return MASK;
  };

  const redactNumber = (value: number): JsonValue | undefined => {
    const plain = String(value);
    const shown = redactText(plain);
    return shown === plain ? value : shown;
  };

  const redactValue = (value: JsonValue, state: ActionState, depth: number): JsonValue | undefined => {
    if (depth > MAX_DEPTH) return MASK;
    if (typeof value === 'string') return redactString(value, depth);
    if (typeof value === 'number') return redactNumber(value);
    if (typeof value !== 'object' || value === null) return value;
    if (!Array.isArray(value)) return redactFields(value, (name) => fields.step(state, name), depth);
    const items = value.map((item) => redactValue(item, state, depth + 1));
    return items.every((item, at) => item === value[at]) ? value : items.filter((item) => item !== undefined);
  };

  const redactField = (value: JsonValue, state: ActionState, depth: number): JsonValue | undefined => {
    if (state.hit === undefined) return redactValue(value, state, depth);
    if (state.hit === 'drop') return undefined;
    return state.hit === 'hash' ? hashMark(value) : MASK;
  };

  const redactFields = (value: JsonObject, stateOf: (name: string) => ActionState, depth: number): JsonObject => {
    let copy: JsonObject | undefined;
    for (const name of Object.keys(value)) {
      const field = value[name];
      if (field === undefined) continue;
      const redacted = redactField(field, stateOf(name), depth + 1);
      if (redacted === field) continue;
      // Spreading makes every name an own field of the copy, `__proto__` too.
      copy ??= { ...value };
      if (redacted === undefined) delete copy[name];
      else copy[name] = redacted;
    }
    return copy ?? value;
  };

  const below = (name: string): ActionState => fields.step(fields.root, name);
  const belowResult = (name: string): ActionState =>
    name === 'structuredContent' ? fields.merge(fields.root, below(name)) : below(name);

  return {
    arguments: (value) => redactFields(value, below, 0),
    result: (value) => redactFields(value, belowResult, 0),
    text: (value) => redactString(value, 0) ?? MASK,
    value(value) {
      const shown = redactValue(value, fields.root, 0);
      return shown === undefined ? MASK : shown;
    },
    isAbout: (name) => below(name).hit !== undefined,
  };
}
