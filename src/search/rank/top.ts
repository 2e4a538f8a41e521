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
 * The best `count` of very many documents by their scores, none below 0, best first; `compare` orders those that score the same.
 * What scores less than any of the best, nearly everything, costs two looks at one number.
 */
export function selectBest(
  documents: Uint32Array,
  scores: Float32Array,
  count: number,
  compare: Compare<number>,
  accept: (document: number) => boolean = () => true,
): number[] {
  if (count <= 0) return [];
  const byScore = (a: number, b: number): number => scores[b]! - scores[a]! || compare(a, b);
  const high = documents.length > Math.max(MANY, 2 * count) ? highest(documents, scores, count) : documents;
  const best = selectTop(high, count, byScore, accept);
  // Too many of the highest were not acceptable: then all are looked at.
  return best.length < count && high.length < documents.length ? selectTop(documents, count, byScore, accept) : best;
}

/** Documents beyond which their scores are counted first; fewer are looked at one by one. */
const MANY = 4000;

/** Bits of a score that are dropped when scores are counted: what is left tells them apart to a few hundredths. */
const DROPPED_BITS = 18;

/** All documents with the highest scores, at least `count` and not many more: numbers of one sign have the order of their bits. */
function highest(documents: Uint32Array, scores: Float32Array, count: number): Uint32Array {
  const bits = new Uint32Array(scores.buffer, scores.byteOffset, scores.length);
  const counts = new Uint32Array((0x7f800000 >>> DROPPED_BITS) + 1);
  let step = 0;
  for (let i = 0; i < documents.length; i++) {
    const own = bits[documents[i]!]! >>> DROPPED_BITS;
    counts[own] = counts[own]! + 1;
    if (own > step) step = own;
  }
  let kept = counts[step]!;
  while (kept < count && step > 0) kept += counts[--step]!;
  const high = new Uint32Array(kept);
  for (let i = 0, at = 0; at < kept; i++) {
    const document = documents[i]!;
    if (bits[document]! >>> DROPPED_BITS >= step) high[at++] = document;
  }
  return high;
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
