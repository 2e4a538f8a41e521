import { counted } from '../kernel/text.js';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A remaining time, in the largest unit that gives at least two: `15 minutes`, `90 seconds`. */
export function duration(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= 2 * size) return counted(Math.round(ms / size), unit);
  return counted(Math.ceil(ms / 1000), 'second');
}
