/**
 * The entries that give way so that what stays weighs at most `max`, each 1 unless `weightOf` says otherwise: each time the oldest of the
 * owner that has most, so that no owner loses a place to another that takes many (A43). `entries` begin with the oldest.
 */
export function surplusOf<Each>(
  entries: readonly Each[],
  ownerOf: (each: Each) => string,
  max: number,
  weightOf: (each: Each) => number = () => 1,
): Each[] {
  const owned = new Map<string, { readonly entries: Each[]; weight: number }>();
  let total = 0;
  for (const each of entries) {
    const owner = ownerOf(each);
    const own = owned.get(owner) ?? { entries: [], weight: 0 };
    owned.set(owner, own);
    own.entries.push(each);
    own.weight += weightOf(each);
    total += weightOf(each);
  }
  const surplus: Each[] = [];
  while (total > Math.max(0, max)) {
    let most: { readonly entries: Each[]; weight: number } | undefined;
    for (const own of owned.values()) if (own.entries.length > 0 && own.weight > (most?.weight ?? 0)) most = own;
    const oldest = most?.entries.shift();
    if (!most || oldest === undefined) break;
    surplus.push(oldest);
    most.weight -= weightOf(oldest);
    total -= weightOf(oldest);
  }
  return surplus;
}
