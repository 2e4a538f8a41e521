/** Five letters or more, each apart from the next by the same kind of mark. */
const APART = /(?<![\p{L}\p{N}])\p{L}(?:([ .\-_*|/\n])\p{L}(?![\p{L}\p{N}])){4,200}/gu;

/** A word whose letters stand apart, each followed by the same mark. */
const MARKED = /(?<![\p{L}\p{N}])\p{L}(?:([.\-_*|/])\p{L}(?![\p{L}\p{N}])){1,40}/gu;
const LONG_MARKED = /(?<![\p{L}\p{N}])\p{L}(?:([.\-_*|/])\p{L}(?![\p{L}\p{N}])){2,40}/gu;
/** So many of them are a sentence. */
const MANY_MARKED = 5;

/** A text whose letters stand apart, put together again; `undefined` when none do. Wider gaps part words. */
export function unspace(plain: string): string | undefined {
  let found = false;
  const marked = plain.match(LONG_MARKED)?.length ?? 0;
  if (marked >= MANY_MARKED) {
    return plain
      .replace(/([.\-*|/])[ _]{1,2}\1/g, ' ')
      .replace(/(?<=\p{L}) [/|] (?=\p{L})/gu, ' ')
      .replace(MARKED, (run) => run.replace(/[.\-_*|/]/g, ''));
  }
  const narrow = plain.replace(/[ \t]{2,6}|\n \n/g, '\u0003').replace(APART, (run) => {
    found = true;
    return run.replace(/[ .\-_*|/\n]/g, '');
  });
  if (!found) return undefined;
  return narrow.replaceAll('\u0003', ' ');
}

/** Nothing but the letters. Digits and signs that stand for letters are read as letters. */
export function joinLetters(plain: string): string {
  return (
    plain
      .replace(
        /(?<=[a-z])[013457@$](?=[a-z])|(?<![\w.])[013457@$](?=[a-z]{2})|(?<=[a-z]{2})[013457@$](?![\w.])/g,
        (sign) => LETTERS[sign] ?? sign,
      )
      // oxlint-disable-next-line no-control-regex
      .replace(/[^a-z\u0004]+/g, '')
  );
}

const LETTERS: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};
