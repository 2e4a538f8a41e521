/** A text as lines, and how many characters that are no space stand before each of them. */
interface Lines {
  readonly lines: readonly string[];
  readonly bare: string;
  /** One number more than there are lines: the last one is the end. */
  readonly before: readonly number[];
}

function readLines(lines: readonly string[]): Lines {
  const before = [0];
  let bare = '';
  for (const line of lines) {
    bare += line.replaceAll(/\s+/g, '');
    before.push(bare.length);
  }
  return { lines, bare, before };
}

function sameStart(a: ArrayLike<string>, b: ArrayLike<string>): number {
  const end = Math.min(a.length, b.length);
  let at = 0;
  while (at < end && a[at] === b[at]) at++;
  return at;
}

/** How many first lines of `written` and of `own` say the same but for spaces, at most `most` of the former. */
function sharedLines(own: Lines, written: Lines, most: number): readonly [own: number, written: number] {
  const same = sameStart(own.bare, written.bare);
  const places = new Map<number, number>();
  for (const [index, count] of own.before.entries()) if (!places.has(count)) places.set(count, index);
  for (let index = most; index > 0; index--) {
    const count = written.before[index]!;
    const place = count <= same ? places.get(count) : undefined;
    if (place === undefined) continue;
    // Of several empty lines in a row, as many as were written.
    const empty = index - written.before.indexOf(count);
    let here = place;
    while (here - place < empty && own.before[here + 1] === count) here++;
    return [here, index];
  }
  return [0, 0];
}

/** The same from its end, so that lines which a printer joined still say the same. */
function backwards(lines: readonly string[]): string[] {
  return lines.toReversed().map((line) => Array.from({ length: line.length }, (_, at) => line.at(-1 - at)).join(''));
}

/**
 * A text that a printer wrote after an edit, with the lines of the file wherever the edit changed nothing: a printer has its
 * own spaces. `plain` is what it writes without the edit.
 */
export function keepLines(text: string, plain: string, edited: string): string {
  const [own, written, changed] = [text, plain, edited].map((each) => each.split(/\r?\n/)) as [
    string[],
    string[],
    string[],
  ];
  const start = sameStart(written, changed);
  const rest = Math.min(written.length, changed.length) - start;
  const end = Math.min(rest, sameStart(written.toReversed(), changed.toReversed()));
  const [ownStart, keptStart] = sharedLines(readLines(own), readLines(written), start);
  const [ownEnd, keptEnd] = sharedLines(readLines(backwards(own)), readLines(backwards(written)), end);
  return [
    ...own.slice(0, ownStart),
    ...changed.slice(keptStart, changed.length - keptEnd),
    ...own.slice(own.length - ownEnd),
  ].join(text.includes('\r\n') ? '\r\n' : '\n');
}
