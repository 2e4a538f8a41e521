/**
 * The entries that give way so that at most `max` stay: each time the oldest of the owner that has most, so that no owner loses a
 * place to another that takes many (A43). `entries` begin with the oldest.
 */
export function surplusOf<Each>(entries: readonly Each[], ownerOf: (each: Each) => string, max: number): Each[] {
  const owned = new Map<string, Each[]>();
  for (const each of entries) {
    const owner = ownerOf(each);
    const own = owned.get(owner);
    if (own) own.push(each);
    else owned.set(owner, [each]);
  }
  const surplus: Each[] = [];
  while (entries.length - surplus.length > Math.max(0, max)) {
    let most: Each[] = [];
    for (const own of owned.values()) if (own.length > most.length) most = own;
    surplus.push(most.shift()!);
  }
  return surplus;
}
