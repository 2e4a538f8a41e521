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
  /** @throws ToolscoutError `INVALID_REQUEST` for a placeholder that matches no credential. */
  restore<Value extends JsonValue>(value: Value): Value;
  /** The same in a text of the file, in which each credential is written as it was. */
  restoreText(text: string): string;
}

/** One that is cut or written in other letters is refused: it would be written in the place of the credential. */
const SHAPE = /TOOLSCOUT_SECRET_(?:[0-9a-f]{12})?/gi;

/** Shorter values are too common to be hidden without destroying ordinary text. */
const MIN_LENGTH = 6;

/** Placeholders that are remembered: each stands for one way of writing one credential. */
const MAX_KNOWN = 10_000;

/** What a placeholder stands for: the credential, and how it is written in the text of the file. */
interface Hidden {
  readonly value: string;
  readonly written: string;
}

/** Line breaks that double quotes of YAML and TOML take out. */
const CONTINUED = String.raw`(?:\\\r?\n\s*)?`;
const WHITESPACE = String.raw`(?:\s|\\[nrt ]|\\u00(?:20|0[9aAdD])|\\x(?:20|0[9aAdD])|\\\r?\n)+`;

/** One character, a run of quotes or backslashes, or whitespace, as JSON, YAML and TOML files write it: as it is or escaped. */
function patternOf(part: string): string {
  if (/\s/.test(part)) return WHITESPACE;
  const raw = part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
  const escape = (letter: string, code: number, digits: number): string => {
    const hex = code.toString(16).padStart(digits, '0');
    return `\\\\${letter}${hex.replaceAll(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)}`;
  };
  const code = part.codePointAt(0)!;
  const units = Array.from({ length: part.length }, (_, at) => escape('u', part.charCodeAt(at), 4)).join('');
  const short = code < 256 ? `|${escape('x', code, 2)}` : '';
  // In single quotes of YAML a quote is doubled, in double quotes a backslash is.
  if (part.startsWith("'")) return String.raw`${CONTINUED}(?:${units}|(?:\\x27){${part.length}}|${raw}(?:${raw})?)`;
  if (part.startsWith('\\')) return String.raw`(?:${units}|(?:\\x5[cC]){${part.length}}|${raw}(?:${raw})?)`;
  const escapable = /["/]/.test(part) ? String.raw`\\?` : '';
  return String.raw`${CONTINUED}(?:${escapable}${raw}|${units}|${escape('U', code, 8)}${short})`;
}

/** Finds credentials in a text, however it writes them. */
function createFinder(): (text: string, secret: string) => string[] {
  const patterns = new Map<string, RegExp>();
  const stickyOf = (part: string): RegExp => {
    const pattern = patterns.get(part) ?? new RegExp(patternOf(part), 'y');
    patterns.set(part, pattern);
    return pattern;
  };
  // One pattern for the whole of a long credential would overflow the stack.
  const endOf = (text: string, start: number, rest: readonly RegExp[]): number => {
    let end = start;
    for (const pattern of rest) {
      pattern.lastIndex = end;
      if (!pattern.test(text)) return -1;
      end = pattern.lastIndex;
    }
    return end;
  };
  return (text, secret) => {
    const [first, ...rest] = (secret.match(/\s+|'+|\\+|./gsu) ?? []).map(stickyOf);
    const parts: string[] = [];
    let shownTo = 0;
    for (const { index, 0: begin } of text.matchAll(new RegExp(first!.source, 'g'))) {
      const end = index < shownTo ? -1 : endOf(text, index + begin.length, rest);
      if (end === -1) continue;
      parts.push(text.slice(shownTo, index), text.slice(index, end));
      shownTo = end;
    }
    return [...parts, text.slice(shownTo)];
  };
}

/**
 * Placeholders for credentials, so that a config can be shown and edited without them. They are made of the credential and of a key that this
 * process alone has, so that one means the same credential however the file changes.
 */
export function createPlaceholders(secrets: () => readonly string[]): Placeholders {
  const key = randomBytes(32);
  const find = createFinder();
  const known = new Map<string, Hidden>();
  const nameOf = (value: string, as: string): string => {
    const name = `TOOLSCOUT_SECRET_${createHmac('sha256', key).update(as).digest('hex').slice(0, 12)}`;
    if (known.size >= MAX_KNOWN && !known.has(name)) known.delete(known.keys().next().value!);
    known.set(name, { value, written: as });
    return name;
  };
  // What stands around a credential of several lines is not part of it in each format.
  const usable = (from: readonly string[]): string[] =>
    from.map((secret) => secret.trim()).filter(({ length }) => length >= MIN_LENGTH);

  const hide = (text: string, fresh: readonly string[] = []): string => {
    const old = new Set(usable(secrets()));
    // The longest first: what is masked first would break a longer credential that contains it, and the rest would be shown.
    const all = [...new Set([...old, ...usable(fresh)])].toSorted((a, b) => b.length - a.length);
    // Every second part is hidden already.
    let parts = [text];
    for (const secret of all) {
      const shown = (as: string): string => (old.has(secret) ? nameOf(secret, as) : MASK);
      parts = parts.flatMap((part, at) =>
        at % 2 === 1 ? [part] : find(part, secret).map((each, place) => (place % 2 === 1 ? shown(each) : each)),
      );
    }
    return parts.join('');
  };

  const restoreText = (text: string, as: keyof Hidden): string =>
    text.replaceAll(SHAPE, (name) => {
      const hidden = known.get(name);
      if (hidden !== undefined) return hidden[as];
      throw new ToolscoutError(
        'INVALID_REQUEST',
        `The placeholder ${name} does not match any credential in the config.`,
        {
          suggestion: 'Read the config file again, then repeat the change with the placeholders in it.',
        },
      );
    });

  const restoreIn = (value: JsonValue): JsonValue => {
    if (typeof value === 'string') return restoreText(value, 'value');
    if (Array.isArray(value)) return value.map(restoreIn);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        restoreText(name, 'value'),
        each === undefined ? each : restoreIn(each),
      ]),
    );
  };

  return {
    hide,
    stands: (text) => usable(secrets()).includes(text.trim()),
    restore: (value) => restoreIn(value) as typeof value,
    restoreText: (text) => restoreText(text, 'written'),
  };
}
