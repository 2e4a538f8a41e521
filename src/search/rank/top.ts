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

/**
 * The best `count` of very many documents by their scores, best first; `compare` orders those that score the same. What
 * scores less than the worst of the chosen, nearly everything, costs a look at one number.
 */
export function selectBest(
  documents: Uint32Array,
  scores: Float32Array,
  count: number,
  compare: Compare<number>,
  accept: (document: number) => boolean = () => true,
): number[] {
  const heap: number[] = [];
  if (count <= 0) return heap;
  const byScore = (a: number, b: number): number => scores[b]! - scores[a]! || compare(a, b);
  let least = -Infinity;
  for (let i = 0; i < documents.length; i++) {
    const document = documents[i]!;
    if (scores[document]! < least) continue;
    const full = heap.length >= count;
    if ((full && byScore(document, heap[0]!) >= 0) || !accept(document)) continue;
    if (full) replaceWorst(heap, document, byScore);
    else raise(heap, document, byScore);
    if (heap.length >= count) least = scores[heap[0]!]!;
  }
  return heap.toSorted(byScore);
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
