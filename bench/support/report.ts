/** A benchmark's rows as an aligned table. */
export function printTable(title: string, head: readonly string[], rows: ReadonlyArray<readonly string[]>): void {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => (row[column] ?? '').length)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  console.log(`\n${title}`);
  console.log(line(head));
  console.log(widths.map((width) => '─'.repeat(width)).join('  '));
  for (const row of rows) console.log(line(row));
}

/** One figure with the bound that protects it. */
export interface Bound {
  readonly name: string;
  readonly value: number;
  readonly most?: number;
  readonly least?: number;
}

/** Prints the JSON line, and ends with exit code 1 when a bound is broken. */
export function conclude(benchmark: string, figures: object, bounds: readonly Bound[]): void {
  console.log(JSON.stringify({ benchmark, ...figures }));
  for (const { name, value, most, least } of bounds) {
    const broken = (most !== undefined && value > most) || (least !== undefined && value < least);
    if (!broken) continue;
    console.error(
      `BROKEN: ${name} is ${value}, must be ${most === undefined ? `at least ${least}` : `at most ${most}`}`,
    );
    process.exitCode = 1;
  }
}

/** The value below which the share `q` of the sorted values lies. */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? NaN;
}
