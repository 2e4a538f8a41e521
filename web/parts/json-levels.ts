import type { Json } from '../api/types.js';

/** Lines of a value that are open at first. */
const MAX_LINES = 60;

/** Deeper levels stay folded. */
const MAX_LEVELS = 12;

/** How many levels of a value are opened so that it is read at once: as many as stay short, and at least two. */
export function levelsToOpen(value: Json, most = MAX_LINES): number {
  let level: Json[] = [value];
  let lines = 0;
  for (let depth = 0; depth < MAX_LEVELS; depth++) {
    const next: Json[] = [];
    for (const one of level) {
      if (one === null || typeof one !== 'object') continue;
      for (const item of Object.values(one)) next.push(item);
      if (lines + next.length > most) return Math.max(2, depth);
    }
    if (next.length === 0) return Math.max(2, depth);
    lines += next.length;
    level = next;
  }
  return MAX_LEVELS;
}
