import { createHmac, randomBytes } from 'node:crypto';
import { isObject, type JsonValue } from '../kernel/json.js';
import { ToolscoutError } from '../kernel/errors.js';
import { MASK } from '../kernel/secrets.js';

/** Puts placeholders in the place of credentials, and back. */
export interface Placeholders {
  /** Credentials become placeholders; `fresh` ones, which the config does not have yet, are masked. */
  hide(text: string, fresh?: readonly string[]): string;
  /** Whether this text as a whole has a placeholder. */
  stands(text: string): boolean;
  /** @throws ToolscoutError `INVALID_REQUEST` for a placeholder that stands for nothing here. */
  restore<Value extends JsonValue>(value: Value): Value;
}

const SHAPE = /TOOLSCOUT_SECRET_[0-9a-f]{12}/g;

/** Shorter values are too common to be hidden without destroying ordinary text. */
const MIN_LENGTH = 6;

/** A credential as it may stand in a file: as it is, or in a string of JSON. */
function formsOf(secret: string): string[] {
  const quoted = JSON.stringify(secret).slice(1, -1);
  return quoted === secret ? [secret] : [quoted, secret];
}

/**
 * Placeholders for credentials, so that a config can be shown and edited without them. They are made of the credential and of a key that this
 * process alone has, so that one means the same credential however the file changes.
 */
export function createPlaceholders(secrets: () => readonly string[]): Placeholders {
  const key = randomBytes(32);
  const nameOf = (form: string): string =>
    `TOOLSCOUT_SECRET_${createHmac('sha256', key).update(form).digest('hex').slice(0, 12)}`;
  // The longest first: one credential may be part of another.
  const inOrder = (forms: ReadonlySet<string>): string[] => [...forms].toSorted((a, b) => b.length - a.length);
  const formsIn = (from: readonly string[]): Set<string> =>
    new Set(from.filter(({ length }) => length >= MIN_LENGTH).flatMap(formsOf));
  const forms = (): string[] => inOrder(formsIn(secrets()));

  const hide = (text: string, fresh: readonly string[] = []): string => {
    const known = formsIn(secrets());
    let hidden = text;
    // All in one order: what is masked first would break a longer credential that contains it, and the rest would be shown.
    for (const form of inOrder(new Set([...known, ...formsIn(fresh)])))
      hidden = hidden.replaceAll(form, () => (known.has(form) ? nameOf(form) : MASK));
    return hidden;
  };

  const restoreText = (text: string, known: ReadonlyMap<string, string>): string =>
    text.replaceAll(SHAPE, (name) => {
      const form = known.get(name);
      if (form !== undefined) return form;
      throw new ToolscoutError('INVALID_REQUEST', `The placeholder ${name} stands for no credential of the config.`, {
        suggestion: 'Read the config file again, then repeat the change with the placeholders in it.',
      });
    });

  const restoreIn = (value: JsonValue, known: ReadonlyMap<string, string>): JsonValue => {
    if (typeof value === 'string') return restoreText(value, known);
    if (Array.isArray(value)) return value.map((each) => restoreIn(each, known));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, each === undefined ? each : restoreIn(each, known)]),
    );
  };

  return {
    hide,
    stands: (text) => forms().includes(text),
    restore: (value) => restoreIn(value, new Map(forms().map((form) => [nameOf(form), form]))) as typeof value,
  };
}
