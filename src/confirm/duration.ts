import { counted } from '../kernel/text.js';

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A time that is left, in the largest unit of which there are at least two: `15 minutes`, `90 seconds`. */
export function duration(ms: number): string {
  for (const [unit, size] of UNITS) if (ms >= 2 * size) return counted(Math.round(ms / size), unit);
  return counted(Math.ceil(ms / 1000), 'second');
}
