/** Characters as JSON, JavaScript, HTML and XML write them; JSON within JSON doubles the backslash. */
const ESCAPE = /\\{1,8}u([0-9a-f]{4})|\\{1,8}x([0-9a-f]{2})|&#x([0-9a-f]{1,6});|&#(\d{1,7});|&(amp|lt|gt|quot|apos);/gi;

const NAMED: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

const MAX_CODE_POINT = 0x10_ff_ff;

function characterOf([whole, u, x, hex, decimal, name]: RegExpExecArray): string {
  if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? whole;
  const code = decimal === undefined ? parseInt(u ?? x ?? hex ?? '', 16) : Number(decimal);
  return code <= MAX_CODE_POINT ? String.fromCodePoint(code) : whole;
}

/** A text as it reads once it is decoded, and where each of its characters begins in what was written; one more for the end. */
interface Decoded {
  readonly plain: string;
  readonly starts: readonly number[];
}

/** The text with everything decoded that the pattern finds; `copy` makes of the rest what it is compared as. */
function decode(
  text: string,
  pattern: RegExp,
  characters: (found: RegExpExecArray) => string,
  copy: (part: string) => string = (part) => part,
): Decoded {
  let plain = '';
  const starts: number[] = [];
  const addPart = (part: string, start: number): void => {
    const copied = copy(part);
    if (copied.length === part.length) for (let at = 0; at < part.length; at++) starts.push(start + at);
    else {
      let at = start;
      for (const each of part) {
        for (let left = copy(each).length; left > 0; left--) starts.push(at);
        at += each.length;
      }
    }
    plain += copied;
  };
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    addPart(text.slice(end, found.index), end);
    const decoded = characters(found);
    for (let left = decoded.length; left > 0; left--) starts.push(found.index);
    plain += decoded;
    end = found.index + found[0].length;
  }
  addPart(text.slice(end), end);
  starts.push(text.length);
  return { plain, starts };
}

/** Replaces in a text what stands in its decoded form. `endOf` may move the end of what is replaced. */
function replaceDecoded(
  text: string,
  { plain, starts }: Decoded,
  values: readonly string[],
  replacement: string,
  endOf: (value: string, end: number) => number = (_value, end) => end,
): string {
  const present = values.filter((value) => plain.includes(value));
  if (present.length === 0) return text;
  let shown = '';
  let done = 0;
  for (let at = 0; at < plain.length; at++) {
    const value = starts[at]! < done ? undefined : present.find((each) => plain.startsWith(each, at));
    if (value === undefined) continue;
    shown += text.slice(done, starts[at]) + replacement;
    at += value.length - 1;
    done = endOf(value, starts[at + 1]!);
  }
  return shown + text.slice(done);
}

/** Replaces every one of `values`, the longest first, in a text where some of its characters are written as escapes. */
export function replaceEscaped(text: string, values: readonly string[], replacement: string): string {
  if (text.search(ESCAPE) === -1) return text;
  return replaceDecoded(text, decode(text, ESCAPE, characterOf), values, replacement);
}

const PERCENT = /%([0-9a-f]{2})/gi;

/** Bytes as characters, so that a part of a character can be percent-encoded too; nothing but ASCII stays what it is. */
function bytesOf(text: string): string {
  return /[^\0-\x7f]/.test(text) ? Buffer.from(text).toString('latin1') : text;
}

/** Without upper case, which programs change in addresses, and with the plus sign that stands for a space. */
function leveled(bytes: string): string {
  return bytes.replace(/[A-Z]/g, (letter) => letter.toLowerCase()).replaceAll('+', ' ');
}

/** A value as {@link replacePercentEncoded} looks for it. */
export function percentNeedle(value: string): string {
  return leveled(bytesOf(value));
}

/** What belongs to a value of which only the beginning is looked for. */
const REST = /[^\s"'&]*/y;

/**
 * Replaces every one of `needles`, the longest first, in a text where any of its characters may be percent-encoded. With one that
 * is `cut` goes what follows it.
 */
export function replacePercentEncoded(
  text: string,
  needles: readonly string[],
  replacement: string,
  cut: ReadonlySet<string>,
): string {
  const copy = (part: string): string => leveled(bytesOf(part));
  const character = (found: RegExpExecArray): string => leveled(String.fromCharCode(parseInt(found[1]!, 16)));
  const decoded = decode(text, PERCENT, character, copy);
  return replaceDecoded(text, decoded, needles, replacement, (value, end) => {
    if (!cut.has(value)) return end;
    REST.lastIndex = end;
    return end + (REST.exec(text)?.[0].length ?? 0);
  });
}
