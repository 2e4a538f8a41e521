import { setFlagsFromString } from 'node:v8';

// Imported first, for its effect. V8 lets the space for young objects grow to 3 × 16 MB under load
// and keeps it. What lives here is small and the rest dies at once, so it may stay at its first size:
// a third less memory for collections that are as cheap (docs/adr/0004-small-heap.md).
setFlagsFromString('--semi-space-growth-factor=1');
// Several threads for so little a space spend more on meeting than on collecting.
setFlagsFromString('--no-parallel-scavenge');
