import { setFlagsFromString } from 'node:v8';

// Imported before everything else, for its effect. V8 lets the space for young objects grow to
// 3 × 16 MB under load and keeps it. What lives here is small and the rest dies at once, so it may
// stay small: a third less memory for collections that are about as cheap
// (docs/adr/0004-small-heap.md). It begins with 1 MB, and while modules are loaded it grows once.
setFlagsFromString('--semi-space-growth-factor=3');
// What V8 needs to optimise a function, and keeps for the next one, grows with what it inlines. A fifth of its limit saves
// megabytes, and calls and searches cost the same.
setFlagsFromString('--max-inlined-bytecode-size-cumulative=200');

/** Keeps the space for young objects as it is: called when everything is loaded, before there is any work. */
export function settleHeap(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  // Several threads for so small a space spend more on meeting than on collecting.
  setFlagsFromString('--no-parallel-scavenge');
}
