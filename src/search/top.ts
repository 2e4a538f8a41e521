type Compare<T> = (a: T, b: T) => number;

/**
 * The best `count` of many items, best first, in one pass: a heap keeps the worst of the chosen at
 * its root, so nearly every item costs one comparison. `compare` is negative when the first is better,
 * and must bear items that `accept` refuses.
 */
export function selectTop<T>(
  items: Iterable<T>,
  count: number,
  compare: Compare<T>,
  accept: (item: T) => boolean = () => true,
): T[] {
  const heap: T[] = [];
  if (count <= 0) return heap;
  for (const item of items) {
    const full = heap.length >= count;
    if ((full && compare(item, heap[0]!) >= 0) || !accept(item)) continue;
    if (full) replaceWorst(heap, item, compare);
    else raise(heap, item, compare);
  }
  return heap.toSorted(compare);
}

/** The best `count` of many lists that are each sorted, best first: of a list no more is looked at than may be among them. */
export function firstOf<T>(
  lists: ReadonlyArray<readonly T[]>,
  count: number,
  compare: Compare<T>,
  accept: (item: T) => boolean,
): T[] {
  const heap: T[] = [];
  if (count <= 0) return heap;
  for (const list of lists) {
    for (const item of list) {
      const full = heap.length >= count;
      if (full && compare(item, heap[0]!) >= 0) break;
      if (!accept(item)) continue;
      if (full) replaceWorst(heap, item, compare);
      else raise(heap, item, compare);
    }
  }
  return heap.toSorted(compare);
}

function raise<T>(heap: T[], added: T, compare: Compare<T>): void {
  let at = heap.push(added) - 1;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    if (compare(heap[parent]!, added) >= 0) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = added;
}

function replaceWorst<T>(heap: T[], added: T, compare: Compare<T>): void {
  let at = 0;
  for (;;) {
    let child = at * 2 + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && compare(heap[child + 1]!, heap[child]!) > 0) child++;
    if (compare(added, heap[child]!) >= 0) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = added;
}
