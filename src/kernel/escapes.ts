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

/** Replaces every one of `values`, the longest first, in a text where some of its characters are written as escapes. */
export function replaceEscaped(text: string, values: readonly string[], replacement: string): string {
  let plain = '';
  /** Where each character of `plain` begins in the text. */
  const starts: number[] = [];
  const add = (characters: string, start: number, step: 0 | 1): void => {
    for (let at = 0; at < characters.length; at++) starts.push(start + at * step);
    plain += characters;
  };
  let end = 0;
  for (const found of text.matchAll(ESCAPE)) {
    add(text.slice(end, found.index), end, 1);
    add(characterOf(found), found.index, 0);
    end = found.index + found[0].length;
  }
  if (end === 0) return text;
  add(text.slice(end), end, 1);
  starts.push(text.length);
  const present = values.filter((value) => plain.includes(value));
  if (present.length === 0) return text;

  let shown = '';
  let done = 0;
  for (let at = 0; at < plain.length; at++) {
    const value = present.find((each) => plain.startsWith(each, at));
    if (value === undefined) continue;
    shown += text.slice(done, starts[at]) + replacement;
    at += value.length - 1;
    done = starts[at + 1]!;
  }
  return shown + text.slice(done);
}
