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

/** The number of the piece in which something stands. */
function pieceAt(starts: readonly number[], at: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Characters of an excerpt, and how many of them come before what was found in a longer sentence. */
const MAX_EXCERPT = 160;
const LEAD = 40;
const SENTENCE_END = /[.!?\n]/;

/** The sentences from one place of a text to another, without much around them. */
function excerptOf(text: string, from: number, to: number): string {
  let begin = from;
  while (begin > 0 && !SENTENCE_END.test(text[begin - 1]!)) begin--;
  let end = Math.max(from, to);
  while (end < text.length && !SENTENCE_END.test(text[end]!)) end++;
  if (end < text.length) end++;
  const start = end - begin > MAX_EXCERPT ? Math.max(begin, from - LEAD) : begin;
  const cut = text.slice(start, Math.min(end, start + MAX_EXCERPT)).trim();
  return `${start > begin ? '…' : ''}${cut}${end > start + MAX_EXCERPT ? '…' : ''}`;
}

/** Where something stands: the path of its piece, and its sentence as it was written, or in plain letters where the lengths differ. */
export function placeIn(
  { pieces, plains, rawStarts, plainStarts }: Prepared,
  at: number,
  { isRaw = false, to = at }: { readonly isRaw?: boolean; readonly to?: number } = {},
): { readonly path?: string; readonly text?: string } {
  const starts = isRaw ? rawStarts : plainStarts;
  const index = pieceAt(starts, at);
  const piece = pieces[index];
  if (!piece) return {};
  const read = isRaw ? piece.text : plains[index]!;
  const written = read.length === piece.text.length ? piece.text : read;
  const text = excerptOf(written, Math.min(at - starts[index]!, written.length), to - starts[index]!);
  return { path: piece.path, ...(text !== '' && { text }) };
}
