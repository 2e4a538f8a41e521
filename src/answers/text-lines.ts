/** Characters of one line; a longer one counts as several, so that a text without line breaks can be read in parts too. */
const MAX_LINE = 2000;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;

/** Where the line that begins at `start` ends, and where the next one begins. */
function endOfLine(text: string, start: number, lineBreak: number): { readonly end: number; readonly next: number } {
  if (lineBreak - start <= MAX_LINE) {
    const isCrlf = lineBreak > start && text.charCodeAt(lineBreak - 1) === 13;
    return { end: isCrlf ? lineBreak - 1 : lineBreak, next: lineBreak + 1 };
  }
  const end = start + MAX_LINE - (isHighSurrogate(text.charCodeAt(start + MAX_LINE - 1)) ? 1 : 0);
  return { end, next: end };
}

/** The lines of a text, one after the other; nothing is copied before it is asked for. */
export function* linesOf(text: string): Generator<string> {
  let lineBreak = -1;
  for (let start = 0; start < text.length;) {
    if (lineBreak < start) {
      lineBreak = text.indexOf('\n', start);
      if (lineBreak < 0) lineBreak = text.length;
    }
    const { end, next } = endOfLine(text, start, lineBreak);
    yield text.slice(start, end);
    start = next;
  }
}

/** How many lines a text has. */
export function countLines(text: string): number {
  let count = 0;
  let lineBreak = -1;
  for (let start = 0; start < text.length; count++) {
    if (lineBreak < start) {
      lineBreak = text.indexOf('\n', start);
      if (lineBreak < 0) lineBreak = text.length;
    }
    start = endOfLine(text, start, lineBreak).next;
  }
  return count;
}
