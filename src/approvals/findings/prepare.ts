import type { JsonValue } from '../../kernel/json.js';
import { fold, splitCamel, unescapeText } from './fold.js';
import { textsOf, type Piece } from './texts.js';

/** A definition as the text that a model reads. */
export interface Prepared {
  readonly pieces: readonly Piece[];
  /** Each piece in small plain letters, escapes resolved. */
  readonly plains: readonly string[];
  /** All pieces as they were written, one a line. */
  readonly raw: string;
  /** All pieces in small plain letters. */
  readonly plain: string;
  /** Where each piece starts in `raw` and in `plain`. */
  readonly rawStarts: readonly number[];
  readonly plainStarts: readonly number[];
  /** There is more than is read. */
  readonly isCut: boolean;
}

/** Stands between two texts, so that words of one and words of its neighbour give no order together. */
const BETWEEN = '\n\u0004\n';
/** Stands between the name of a field and what is said about it: two sentences that follow each other. */
const ABOUT = '\n';

/** A name as programs have them. */
const NAME = /^[\w -]+$/;

/** A text in the letters that are read: small, plain, escapes resolved. */
export function plainOf(text: string): string {
  return fold(splitCamel(unescapeText(text)));
}

/** Takes a definition apart and puts its texts into plain letters. */
export function prepare(definition: JsonValue): Prepared {
  const { pieces, isCut } = textsOf(definition);
  const plains = pieces.map(({ text, role }) => {
    const plain = plainOf(text);
    // The underscores of names part words.
    return (role === 'key' || role === 'name') && NAME.test(plain) ? plain.replaceAll('_', ' ') : plain;
  });
  const rawStarts: number[] = [];
  const plainStarts: number[] = [];
  let rawLength = 0;
  let plain = '';
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) plain += isAbout(pieces[index - 1]!, piece) ? ABOUT : BETWEEN;
    rawStarts.push(rawLength);
    plainStarts.push(plain.length);
    rawLength += piece.text.length + 1;
    plain += plains[index]!;
  }
  return { pieces, plains, raw: pieces.map(({ text }) => text).join('\n'), plain, rawStarts, plainStarts, isCut };
}

/** Whether a piece describes the field whose name comes before it. */
function isAbout(before: Piece, piece: Piece): boolean {
  return before.role === 'key' && piece.role === 'prose' && piece.path.startsWith(`${before.path}/`);
}

/** The path of the piece in which something stands. */
export function pathAt(pieces: readonly Piece[], starts: readonly number[], at: number): string | undefined {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return pieces[low]?.path;
}
