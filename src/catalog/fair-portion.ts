/**
 * The part of a rate that one replica has, given what it and the others ask for a second. Nobody gets more than the others while
 * it needs more; what nobody needs is divided equally, so that a replica can ask for more than it did before.
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
