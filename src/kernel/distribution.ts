/** How many of the values that were observed are within each bound, and their sum. */
export class Distribution {
  /** For each bound, how many values were not above it. */
  readonly counts: number[];
  count = 0;
  sum = 0;

  constructor(readonly bounds: readonly number[]) {
    this.counts = bounds.map(() => 0);
  }

  observe(value: number): void {
    const { bounds, counts } = this;
    this.count += 1;
    this.sum += value;
    for (let at = bounds.length - 1; at >= 0 && value <= bounds[at]!; at--) counts[at]! += 1;
  }
}
