/** How many lines of a text are gone in another one, and how many are new; lines that only moved count as both or neither. */
export function diffLinesOf(before: string, after: string): readonly [gone: number, fresh: number] {
  const count = (lines: readonly string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  };
  const [old, next] = [count(before.split('\n')), count(after.split('\n'))];
  const surplus = (a: Map<string, number>, b: Map<string, number>): number =>
    [...a].reduce((sum, [line, number]) => sum + Math.max(0, number - (b.get(line) ?? 0)), 0);
  return [surplus(old, next), surplus(next, old)];
}
