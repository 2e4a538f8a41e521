/**
 * One replica's share of a rate, given its own demand per second and that of the others. A replica gets more than
 * another only when that one needs less; the rest is divided equally, so that each replica can raise its demand.
 */
export function fairPortion(perSecond: number, mine: number, others: readonly number[]): number {
  const count = others.length + 1;
  let left = perSecond;
  let own = 0;
  let isMineDone = false;
  const demands = [...others, mine].toSorted((a, b) => a - b);
  for (const [at, rate] of demands.entries()) {
    const given = Math.min(rate, left / (count - at));
    left -= given;
    if (rate === mine && !isMineDone) {
      own = given;
      isMineDone = true;
    }
  }
  return Math.min(1, (own + left / count) / perSecond);
}
