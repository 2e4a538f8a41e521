/** One line of a comparison of two texts. */
export interface ComparedLine {
  readonly kind: 'same' | 'removed' | 'added';
  readonly text: string;
}

/** Lines beyond which the middle is not compared line by line. */
const MAX_COMPARED = 1500;

const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/\r?\n/));

/** Compares what is left between equal beginnings and ends: the longest common sequence stays. */
function compareMiddle(before: readonly string[], after: readonly string[]): ComparedLine[] {
  const removed = before.map((text): ComparedLine => ({ kind: 'removed', text }));
  const added = after.map((text): ComparedLine => ({ kind: 'added', text }));
  if (before.length > MAX_COMPARED || after.length > MAX_COMPARED) return [...removed, ...added];
  const width = after.length + 1;
  // The length of the longest sequence from each pair of places on.
  const longest = new Uint16Array((before.length + 1) * width);
  for (let a = before.length - 1; a >= 0; a--) {
    for (let b = after.length - 1; b >= 0; b--) {
      longest[a * width + b] =
        before[a] === after[b]
          ? longest[(a + 1) * width + b + 1]! + 1
          : Math.max(longest[(a + 1) * width + b]!, longest[a * width + b + 1]!);
    }
  }
  const lines: ComparedLine[] = [];
  let [a, b] = [0, 0];
  while (a < before.length || b < after.length) {
    if (a < before.length && b < after.length && before[a] === after[b]) {
      lines.push({ kind: 'same', text: before[a]! });
      a += 1;
      b += 1;
    } else if (
      b >= after.length ||
      (a < before.length && longest[(a + 1) * width + b]! >= longest[a * width + b + 1]!)
    ) {
      lines.push(removed[a++]!);
    } else lines.push(added[b++]!);
  }
  return lines;
}

/** Compares two texts line by line. */
export function compareLines(before: string, after: string): ComparedLine[] {
  const [old, next] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < next.length && old[start] === next[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < next.length - start && old.at(-1 - end) === next.at(-1 - end)) end += 1;
  const same = (text: string): ComparedLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, start).map(same),
    ...compareMiddle(old.slice(start, old.length - end), next.slice(start, next.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}
