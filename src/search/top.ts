/**
 * The best `count` of many numbers, best first, in one pass: a heap keeps the worst of the chosen
 * at its root, so nearly every number costs one comparison. `compare` is negative when the first is better.
 */
export function selectTop(
  numbers: Iterable<number>,
  count: number,
  compare: (a: number, b: number) => number,
  accept: (number: number) => boolean,
): number[] {
  const heap: number[] = [];
  if (count <= 0) return heap;
  for (const number of numbers) {
    const full = heap.length >= count;
    if (full && compare(number, heap[0]!) >= 0) continue;
    if (!accept(number)) continue;
    if (full) sinkRoot(heap, number, compare);
    else raise(heap, number, compare);
  }
  return heap.toSorted(compare);
}

function raise(heap: number[], added: number, compare: (a: number, b: number) => number): void {
  let at = heap.push(added) - 1;
  while (at > 0) {
    const parent = (at - 1) >>> 1;
    if (compare(heap[parent]!, added) >= 0) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = added;
}

function sinkRoot(heap: number[], added: number, compare: (a: number, b: number) => number): void {
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
