/** Where a line of a text begins and ends, without its line break; the last line stands for every one behind it. */
export function lineRange(text: string, line: number): readonly [from: number, until: number] {
  let from = 0;
  for (let at = 1; at < line; at++) {
    const next = text.indexOf('\n', from);
    if (next === -1) break;
    from = next + 1;
  }
  const end = text.indexOf('\n', from);
  return [from, end === -1 ? text.length : end];
}

/** How many lines a text has, as an editor numbers them. */
export function countLines(text: string): number {
  let count = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/** The line that a place in a text is on, counted from 1. */
export function lineOf(text: string, offset: number): number {
  return countLines(text.slice(0, offset));
}

/** The numbers beside the lines, as parts: the lines that something is said about stand alone. */
export function numberParts(count: number, marked: ReadonlySet<number>): ReadonlyArray<string | number> {
  const parts: Array<string | number> = [];
  let run = '';
  for (let line = 1; line <= count; line++) {
    if (!marked.has(line)) {
      run += `${line}\n`;
      continue;
    }
    if (run !== '') parts.push(run);
    run = '';
    parts.push(line);
  }
  return run === '' ? parts : [...parts, run];
}
