/** What a secret is shown as. */
export const MASK = '***';

/** Values shorter than this are too common to be masked without destroying ordinary text. */
const SHORTEST = 6;

/** Knows every secret value in use and removes them from any text. */
export interface SecretMask {
  /** Adds values that must never be shown. */
  add(values: Iterable<string>): void;
  /** The text with every known secret replaced by {@link MASK}. */
  hide(text: string): string;
}

/** A secret as it stands in a URL; half of a surrogate pair cannot stand in one. */
function inUrl(value: string): string {
  return /\p{Surrogate}/u.test(value) ? value : encodeURIComponent(value);
}

/** Secrets that are looked for in one pass; the expression for more would cost more than it saves. */
const MAX_AT_ONCE = 500;

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** A mask over the secret values of one process. */
export function createSecretMask(): SecretMask {
  const known = new Set<string>();
  let ordered: string[] = [];
  /** Finds out in one pass that a text holds none of them, as nearly all texts do. */
  let some: RegExp | undefined;
  return {
    add(values) {
      for (const value of values) {
        for (const form of [value, inUrl(value), JSON.stringify(value).slice(1, -1)]) {
          if (form.length >= SHORTEST) known.add(form);
        }
      }
      // Longest first, so that a secret which contains another is hidden whole.
      ordered = [...known].toSorted((a, b) => b.length - a.length);
      some = ordered.length > MAX_AT_ONCE ? undefined : new RegExp(ordered.map(literal).join('|') || '(?!)');
    },
    hide(text) {
      if (some && !some.test(text)) return text;
      let shown = text;
      for (const secret of ordered) if (shown.includes(secret)) shown = shown.replaceAll(secret, MASK);
      return shown;
    },
  };
}
