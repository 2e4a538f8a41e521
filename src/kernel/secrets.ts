import { percentNeedle, replaceEscaped, replacePercentEncoded } from './escapes.js';

/** What a secret is shown as. */
export const MASK = '***';

/** Values shorter than this are too common to be masked without destroying ordinary text. */
const MIN_LENGTH = 6;

/** Holds every secret value in use and removes them from any text. */
export interface SecretMask {
  /** Adds values that must never be shown. */
  add(values: Iterable<string>): void;
  /**
   * Adds values that take the place of earlier ones of the same owner, such as the tokens of a sign-in. Those that came shortly before
   * may still be in use and stay hidden; without an end of it each text would cost more with every renewal (A44).
   */
  renew(owner: string, values: Iterable<string>): void;
  /** The text with every known secret replaced by {@link MASK}. */
  hide(text: string): string;
  /**
   * The same, and secrets in base64, base64url, hexadecimal or percent-encoded form or with escaped characters too (A54). It costs
   * more: for texts of errors and logs, which others write.
   */
  hideEncoded(text: string): string;
}

/** Sets of values of one owner that are hidden: the present one and those before. */
const MAX_RENEWALS = 3;
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

/** Expressions that find values in other forms, with all that is encoded together with them. */
function encodedForms(values: readonly string[]): RegExp[] {
  if (values.length === 0) return [];
  const all = values.map((value) => Buffer.from(value.slice(0, MAX_ENCODED)));
  const base64 = all.flatMap(base64Forms).flatMap((form) => [form, form.replaceAll('+', '-').replaceAll('/', '_')]);
  const either = (forms: readonly string[]): string => `(?:${[...new Set(forms)].map(literal).join('|')})`;
  return [
    new RegExp(`${either(base64)}[\\w+/-]*={0,2}`, 'g'),
    new RegExp(`${either(all.map((bytes) => bytes.toString('hex')))}(?:[0-9a-f]{2})*`, 'gi'),
  ];
}

/** The end of a line within base64, which many programs break after 64 or 76 characters; in JSON it is an escape. */
const LINE_END = /(?<=[\w+/-]{32})(?:\\{1,8}[rn]|\s){1,8}(?=[\w+/-])/g;

/** A secret as it stands in a URL; half of a surrogate pair cannot stand in one. */
function inUrl(value: string): string {
  return /\p{Surrogate}/u.test(value) ? value : encodeURIComponent(value);
}

/** Values whose beginnings are looked for in one pass; the expression for more would cost more than it saves. */
const MAX_AT_ONCE = 500;
/** Characters of these beginnings. */
const BEGINNING = 16;

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

/** Values that come and go together, and the expressions for them, made when first needed: most processes never write an error. */
interface Group {
  readonly values: readonly string[];
  encoded?: readonly RegExp[];
}

/** A value, and how it stands in a URL and in JSON, as far as they are long enough to be looked for. */
function plainForms(value: string): string[] {
  return [value, inUrl(value), JSON.stringify(value).slice(1, -1)].filter((form) => form.length >= MIN_LENGTH);
}

/** A mask over the secret values of one process. */
export function createSecretMask(): SecretMask {
  const lasting = new Set<string>();
  /** For each owner the newest set last. */
  const renewed = new Map<string, string[][]>();
  let groups: readonly Group[] = [];
  let lastingGroups: readonly Group[] | undefined;
  const groupOf = new Map<string, Group>();
  let ordered: string[] = [];
  /** Finds out in one pass that a text holds none of them, as nearly all texts do. */
  let some: RegExp | undefined;
  let needles: readonly string[] = [];
  let cut: ReadonlySet<string> = new Set();

  const isEncodable = (value: string): boolean => value.length >= MIN_ENCODED_LENGTH;
  const gather = (): void => {
    const all = new Set([...lasting, ...[...renewed.values()].flat(2)]);
    // Longest first, so that a secret which contains another is hidden whole.
    ordered = [...new Set([...all].flatMap(plainForms))].toSorted((a, b) => b.length - a.length);
    const beginnings = new Set(ordered.map((each) => each.slice(0, BEGINNING)));
    some = beginnings.size > MAX_AT_ONCE ? undefined : new RegExp([...beginnings].map(literal).join('|') || '(?!)');
    lastingGroups ??= inGroups([...lasting].filter(isEncodable)).map((values) => ({ values }));
    groups = [...lastingGroups, ...groupOf.values()];
    const looked = [...all]
      .filter(isEncodable)
      .map((value) => [percentNeedle(value.slice(0, MAX_ENCODED)), value.length > MAX_ENCODED] as const);
    needles = [...new Set(looked.map(([needle]) => needle))].toSorted((a, b) => b.length - a.length);
    cut = new Set(looked.filter(([, isCut]) => isCut).map(([needle]) => needle));
  };

  const hide = (text: string): string => {
    if (some && !some.test(text)) return text;
    let shown = text;
    for (const secret of ordered) if (shown.includes(secret)) shown = shown.replaceAll(secret, MASK);
    return shown;
  };
  return {
    add(values) {
      const before = lasting.size;
      for (const value of values) lasting.add(value);
      if (lasting.size === before) return;
      lastingGroups = undefined;
      gather();
    },
    renew(owner, values) {
      const given = [...values];
      const sets = renewed.get(owner) ?? [];
      // Another process may read an older set after a newer one.
      if (sets.some((set) => given.every((value) => set.includes(value)))) return;
      const kept = [...sets, given].slice(-MAX_RENEWALS);
      renewed.set(owner, kept);
      groupOf.set(owner, { values: [...new Set(kept.flat())].filter(isEncodable) });
      gather();
    },
    hide,
    hideEncoded(text) {
      const hideForms = (from: string): string => {
        let shown = from;
        for (const group of groups) {
          group.encoded ??= encodedForms(group.values);
          for (const form of group.encoded) shown = shown.replace(form, MASK);
        }
        return needles.length === 0 ? shown : replacePercentEncoded(shown, needles, MASK, cut);
      };
      const shown = hideForms(replaceEscaped(hide(text), ordered, MASK));
      const joined = shown.replace(LINE_END, '');
      const hidden = hideForms(joined);
      return hidden === joined ? shown : hidden;
    },
  };
}
