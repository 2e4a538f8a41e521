/** One row of a side-by-side diff. */
export interface DiffRow {
  readonly kind: 'same' | 'changed' | 'added' | 'removed';
  readonly left?: string;
  readonly right?: string;
}

/** A part of a line: the same on both sides, or not. */
export interface DiffPart {
  readonly same: boolean;
  readonly text: string;
}

/** More comparisons than this would be felt; what differs is then shown as one block. */
const MAX_CELLS = 1_000_000;

interface Step {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** The shortest way from one list to the other, by the longest common subsequence between equal ends. */
function steps(before: readonly string[], after: readonly string[]): Step[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end))
    end += 1;
  const left = before.slice(start, before.length - end);
  const right = after.slice(start, after.length - end);
  const middle: Step[] = [];
  if (left.length * right.length > MAX_CELLS) {
    for (const text of left) middle.push({ kind: 'removed', text });
    for (const text of right) middle.push({ kind: 'added', text });
  } else {
    const width = right.length + 1;
    const lengths = new Uint32Array((left.length + 1) * width);
    for (let row = left.length - 1; row >= 0; row -= 1) {
      for (let column = right.length - 1; column >= 0; column -= 1) {
        lengths[row * width + column] =
          left[row] === right[column]
            ? lengths[(row + 1) * width + column + 1]! + 1
            : Math.max(lengths[(row + 1) * width + column]!, lengths[row * width + column + 1]!);
      }
    }
    let row = 0;
    let column = 0;
    while (row < left.length || column < right.length) {
      if (row < left.length && column < right.length && left[row] === right[column]) {
        middle.push({ kind: 'same', text: left[row]! });
        row += 1;
        column += 1;
      } else if (
        column >= right.length ||
        (row < left.length && lengths[(row + 1) * width + column]! >= lengths[row * width + column + 1]!)
      ) {
        middle.push({ kind: 'removed', text: left[row]! });
        row += 1;
      } else {
        middle.push({ kind: 'added', text: right[column]! });
        column += 1;
      }
    }
  }
  const same = (text: string): Step => ({ kind: 'same', text });
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)];
}

/** Two texts side by side: lines that were replaced stand beside each other. */
export function diffLines(before: string, after: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    for (let index = 0; index < Math.max(removed.length, added.length); index += 1) {
      const left = removed[index];
      const right = added[index];
      rows.push({
        kind: left === undefined ? 'added' : right === undefined ? 'removed' : 'changed',
        ...(left !== undefined && { left }),
        ...(right !== undefined && { right }),
      });
    }
    removed = [];
    added = [];
  };
  // The line break at the end ends the last line and begins none; where one text has none there, that is a difference.
  const isEnded = [before, after].every((text) => text === '' || text.endsWith('\n'));
  const linesOf = (text: string): string[] => (text === '' ? [] : (isEnded ? text.slice(0, -1) : text).split('\n'));
  for (const { kind, text } of steps(linesOf(before), linesOf(after))) {
    if (kind === 'removed') removed.push(text);
    else if (kind === 'added') added.push(text);
    else {
      flush();
      rows.push({ kind: 'same', left: text, right: text });
    }
  }
  flush();
  return rows;
}

/** Words, runs of white space and single other characters. */
const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;

function join(parts: readonly Step[], side: 'added' | 'removed'): DiffPart[] {
  const joined: Array<{ same: boolean; text: string }> = [];
  for (const { kind, text } of parts) {
    if (kind !== 'same' && kind !== side) continue;
    const same = kind === 'same';
    const last = joined.at(-1);
    if (last?.same === same) last.text += text;
    else joined.push({ same, text });
  }
  return joined;
}

/** What differs inside a line that was replaced, for both sides. */
export function diffWords(before: string, after: string): { readonly left: DiffPart[]; readonly right: DiffPart[] } {
  const parts = steps(before.match(WORDS) ?? [], after.match(WORDS) ?? []);
  return { left: join(parts, 'removed'), right: join(parts, 'added') };
}

/** Leaves out equal lines that are further than `around` from any difference; a number says how many were left out. */
export function foldSame(rows: readonly DiffRow[], around = 3): Array<DiffRow | number> {
  const near = new Uint8Array(rows.length);
  rows.forEach(({ kind }, index) => {
    if (kind !== 'same') near.fill(1, Math.max(0, index - around), index + around + 1);
  });
  const isNear = (index: number): boolean => index < 0 || index >= rows.length || near[index] === 1;
  const folded: Array<DiffRow | number> = [];
  rows.forEach((row, index) => {
    // One line takes no more room than the remark that it is left out.
    if (near[index] || (isNear(index - 1) && isNear(index + 1))) folded.push(row);
    else if (typeof folded.at(-1) === 'number') folded[folded.length - 1] = (folded.at(-1) as number) + 1;
    else folded.push(1);
  });
  return folded;
}
