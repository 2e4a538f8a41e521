import { ToolscoutError } from '../kernel/errors.js';

/** A piece of a file: text of its owner, or a region that is ours. */
interface Piece {
  readonly region?: string;
  readonly text: string;
}

const MARKER = /^<!-- toolscout:(begin|end) (\S+) -->[ \t]*\r?\n?$/;

function wrap(name: string, body: string, newline: string): string {
  const text = `<!-- toolscout:begin ${name} -->\n${body}<!-- toolscout:end ${name} -->\n`;
  return text.replaceAll('\n', newline);
}

function complain(line: number, message: string): ToolscoutError {
  return new ToolscoutError('INVALID_REQUEST', `The tool list was left as it is: line ${line}: ${message}.`, {
    suggestion:
      'Restore the marker, or delete both markers of that section; text outside of the markers is never changed.',
    problems: [{ path: `line ${line}`, message }],
  });
}

/**
 * Cuts a file at its markers. A marker without its partner is refused: guessing where the region ends could delete a
 * person's text.
 */
function cut(text: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  let open: { name: string; line: number; text: string } | undefined;
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  for (const [index, line] of lines.entries()) {
    const [, mark, name = ''] = MARKER.exec(line) ?? [];
    if (mark === 'begin') {
      if (open) throw complain(open.line, `the section "${open.name}" has no end marker`);
      if (plain !== '') pieces.push({ text: plain });
      plain = '';
      open = { name, line: index + 1, text: line };
    } else if (mark === 'end') {
      if (open?.name !== name) throw complain(index + 1, `this end of "${name}" has no begin marker`);
      pieces.push({ region: name, text: open.text + line });
      open = undefined;
    } else if (open) open.text += line;
    else plain += line;
  }
  if (open) throw complain(open.line, `the section "${open.name}" has no end marker`);
  if (plain !== '') pieces.push({ text: plain });
  return pieces;
}

/** Where a new region goes: behind the last one whose name comes before it, else before the first, else at the end. */
function placeFor(name: string, pieces: readonly Piece[]): number {
  const behind = pieces.findLastIndex(({ region }) => region !== undefined && region < name);
  if (behind !== -1) return behind + 1;
  const first = pieces.findIndex(({ region }) => region !== undefined);
  return first === -1 ? pieces.length : first;
}

/**
 * A file with its regions renewed: each stays where it stands, new ones are put in by name, those
 * without a text go unless `keeps` says otherwise. Text outside of regions is kept to the byte.
 */
export function mergeRegions(
  text: string,
  regions: ReadonlyMap<string, string>,
  keeps: (name: string) => boolean,
): string {
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const pieces = cut(text).filter(({ region }) => region === undefined || regions.has(region) || keeps(region));
  const known = new Set(pieces.map(({ region }) => region));
  for (const name of [...regions.keys()].filter((each) => !known.has(each)).toSorted()) {
    pieces.splice(placeFor(name, pieces), 0, { region: name, text: '' });
  }
  return pieces.reduce((whole, piece) => {
    const body = piece.region === undefined ? undefined : regions.get(piece.region);
    // Only at the end of a line is a marker one.
    const start = piece.region === undefined || whole === '' || whole.endsWith('\n') ? '' : newline;
    return whole + start + (body === undefined ? piece.text : wrap(piece.region!, body, newline));
  }, '');
}
