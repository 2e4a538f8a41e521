import { replaceEscaped } from './escapes.js';

/** What a secret is shown as. */
export const MASK = '***';

/** Values shorter than this are too common to be masked without destroying ordinary text. */
const MIN_LENGTH = 6;

/** Holds every secret value in use and removes them from any text. */
export interface SecretMask {
  /** Adds values that must never be shown. */
  add(values: Iterable<string>): void;
  /** The text with every known secret replaced by {@link MASK}. */
  hide(text: string): string;
  /**
   * The same, and secrets in base64, base64url, hexadecimal or percent-encoded form or with escaped characters too (A54). It costs
   * more: for texts of errors and logs, which others write.
   */
  hideEncoded(text: string): string;
}

/** Of a longer value the beginning is looked for, and what follows is hidden with it. */
const MAX_ENCODED = 200;
/** Values in one expression. */
const MAX_ENCODED_AT_ONCE = 100;
/** Shorter values are too common in an encoded form. */
const MIN_ENCODED_LENGTH = 8;

/**
 * The base64 of a value wherever it begins in what was encoded: without the characters that also depend on its neighbours, for
 * each of the three places of its first byte.
 */
function base64Forms(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
  });
}

/** A pattern for a value in which any character may be percent-encoded and a space may be a plus sign. */
function percentForm(value: string): string {
  const bytesOf = (character: string): string =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const either = (character: string): string =>
    `(?:${literal(character)}${character === ' ' ? '|\\+' : ''}|${bytesOf(character)})`;
  const rest = value.length > MAX_ENCODED ? `[^\\s"'&]*` : '';
  return Array.from(value.slice(0, MAX_ENCODED), either).join('') + rest;
}

/** Expressions that find values in other forms, with all that is encoded together with them. */
function encodedForms(values: readonly string[]): RegExp[] {
  const all = values.map((value) => Buffer.from(value.slice(0, MAX_ENCODED)));
  const base64 = all.flatMap(base64Forms).flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
  const either = (forms: readonly string[]): string => `(?:${[...new Set(forms)].map(literal).join('|')})`;
  return [
    new RegExp(`${either(base64)}[\\w+/-]*={0,2}`, 'g'),
    new RegExp(`${either(all.map((bytes) => bytes.toString('hex')))}(?:[0-9a-f]{2})*`, 'gi'),
    new RegExp(`(?:${values.map(percentForm).join('|')})`, 'gi'),
  ];
}

/** The end of a line within base64, which many programs break after 64 or 76 characters; in JSON it is an escape. */
const LINE_END = /(?<=[\w+/-]{32})(?:\\{1,8}[rn]|\s){1,8}(?=[\w+/-])/g;

/** A secret as it stands in a URL; half of a surrogate pair cannot stand in one. */
function inUrl(value: string): string {
  return /\p{Surrogate}/u.test(value) ? value : encodeURIComponent(value);
}

/** Secrets that are looked for in one pass; the expression for more would cost more than it saves. */
const MAX_AT_ONCE = 500;

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

function inGroups(values: readonly string[]): string[][] {
  const ordered = values.toSorted((a, b) => b.length - a.length);
  const count = Math.ceil(ordered.length / MAX_ENCODED_AT_ONCE);
  const group = (_: unknown, at: number): string[] =>
    ordered.slice(at * MAX_ENCODED_AT_ONCE, (at + 1) * MAX_ENCODED_AT_ONCE);
  return Array.from({ length: count }, group);
}

/** A mask over the secret values of one process. */
export function createSecretMask(): SecretMask {
  const known = new Set<string>();
  let ordered: string[] = [];
  /** Finds out in one pass that a text holds none of them, as nearly all texts do. */
  let some: RegExp | undefined;
  const encodable = new Set<string>();
  /** Made when first needed: most processes never write an error. */
  let encoded: RegExp[] | undefined;
  const hide = (text: string): string => {
    if (some && !some.test(text)) return text;
    let shown = text;
    for (const secret of ordered) if (shown.includes(secret)) shown = shown.replaceAll(secret, MASK);
    return shown;
  };
  return {
    add(values) {
      for (const value of values) {
        if (value.length >= MIN_ENCODED_LENGTH) encodable.add(value);
        for (const form of [value, inUrl(value), JSON.stringify(value).slice(1, -1)]) {
          if (form.length >= MIN_LENGTH) known.add(form);
        }
      }
      encoded = undefined;
      // Longest first, so that a secret which contains another is hidden whole.
      ordered = [...known].toSorted((a, b) => b.length - a.length);
      some = ordered.length > MAX_AT_ONCE ? undefined : new RegExp(ordered.map(literal).join('|') || '(?!)');
    },
    hide,
    hideEncoded(text) {
      encoded ??= inGroups([...encodable]).flatMap(encodedForms);
      const hideForms = (from: string): string => encoded!.reduce((shown, form) => shown.replace(form, MASK), from);
      const shown = hideForms(replaceEscaped(hide(text), ordered, MASK));
      const joined = shown.replace(LINE_END, '');
      const hidden = hideForms(joined);
      return hidden === joined ? shown : hidden;
    },
  };
}
