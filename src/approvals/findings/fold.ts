import { INVISIBLE_GROUPS, SHAPELESS } from '../../kernel/invisible-characters.js';

/** Characters without a shape; between letters they only hide a word. */
const UNSEEN = new RegExp(`[${SHAPELESS}${INVISIBLE_GROUPS.selectors}]`, 'gu');
// oxlint-disable-next-line no-control-regex
const ASCII_ONLY = /^[\u0000-\u007f]*$/;
/** Accents, strokes and vowel signs of Arabic; what is left are the letters. */
// oxlint-disable-next-line no-misleading-character-class
const MARKS = /[\u0300-\u036f\u0483-\u0489\u064b-\u065f\u0670\u0640\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]/g;

/** Small capitals and other letters that no normalization turns into plain ones. */
const SHAPES: ReadonlyMap<string, string> = new Map(
  [
    ['ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ', 'abcdefghijklmnoprstuvwyz'],
    ['أإآٱىةیکھہے', 'ااااييةیکھہے'],
  ].flatMap(([from, to]) => {
    const plain = [...to!];
    return [...from!].map((letter, at) => [letter, plain[at]!] as const);
  }),
);
const SHAPED =
  /[\u1d00-\u1d22\ua730\ua731\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\u0622\u0623\u0625\u0649\u0671]/g;
/** Letters in white on black boxes and circles, and the letters of flags. */
const BOXED = /[\u{1f150}-\u{1f169}\u{1f170}-\u{1f189}\u{1f1e6}-\u{1f1ff}]/gu;

function unbox(letter: string): string {
  const code = letter.codePointAt(0)!;
  const base = code >= 0x1f1e6 ? 0x1f1e6 : code >= 0x1f170 ? 0x1f170 : 0x1f150;
  return String.fromCharCode(97 + code - base);
}

/** A text in the letters that a reader sees: small, without accents, hidden characters and decoration. */
export function fold(text: string): string {
  if (ASCII_ONLY.test(text)) return text.toLowerCase();
  return text
    .replace(UNSEEN, '')
    .replace(BOXED, unbox)
    .normalize('NFKD')
    .replace(MARKS, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(SHAPED, (letter) => SHAPES.get(letter) ?? letter)
    .replace(/[’‘`´]/g, "'");
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'", nbsp: ' ' };

function characterOf(code: number): string {
  return code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff) ? String.fromCodePoint(code) : ' ';
}

function decodePercent(run: string): string {
  return Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8');
}

/** A text with character references, `\u0041`, `\x41` and percent signs resolved, twice at most. */
export function unescapeText(text: string): string {
  let plain = text;
  for (let round = 0; round < 2; round++) {
    const before = plain;
    if (plain.includes('&')) {
      plain = plain
        .replace(/&#(\d{1,7});?/g, (_all, code: string) => characterOf(Number(code)))
        .replace(/&#[xX]([0-9a-fA-F]{1,6});?/g, (_all, code: string) => characterOf(Number.parseInt(code, 16)))
        .replace(/&(lt|gt|amp|quot|apos|nbsp);/g, (_all, name: string) => ENTITIES[name]!);
    }
    if (plain.includes('\\')) {
      plain = plain
        .replace(/\\u\{?([0-9a-fA-F]{4,6})\}?/g, (_all, code: string) => characterOf(Number.parseInt(code, 16)))
        .replace(/\\x([0-9a-fA-F]{2})/g, (_all, code: string) => characterOf(Number.parseInt(code, 16)));
    }
    if (plain.includes('%')) plain = plain.replace(/(?:%[0-9a-fA-F]{2})+/g, decodePercent);
    if (plain === before) break;
  }
  return plain;
}

/** `ignorePreviousRules` and `HTMLPage` as words. */
export function splitCamel(text: string): string {
  return text.replace(/([a-z])([A-Z])/g, '$1 $2');
}
