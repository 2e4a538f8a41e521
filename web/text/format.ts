const whole = new Intl.NumberFormat('en');

/** A number with separators: 12,345. */
export function formatCount(value: number): string {
  return whole.format(Math.round(value));
}

/** A count and its noun: `1 tool`, `3 tools`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`;
}

/** A duration in the unit a person would choose. */
export function formatDuration(ms: number): string {
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 60) return `${minutes} min ${Math.round((ms % 60_000) / 1000)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A size in the unit a person would choose. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const STEPS: ReadonlyArray<readonly [limit: number, size: number, unit: string]> = [
  [60_000, 1000, 's'],
  [3_600_000, 60_000, 'min'],
  [86_400_000, 3_600_000, 'h'],
  [Number.POSITIVE_INFINITY, 86_400_000, 'd'],
];

/** How long ago something was: `just now`, `5 min ago`. */
export function formatAgo(time: number, now: number): string {
  const past = Math.max(0, now - time);
  if (past < 5000) return 'just now';
  const [, size, unit] = STEPS.find(([limit]) => past < limit)!;
  return `${Math.floor(past / size)} ${unit} ago`;
}

/** How long there is until something: `in 12 min`, `over`. */
export function formatLeft(time: number, now: number): string {
  const left = time - now;
  if (left <= 0) return 'over';
  const [, size, unit] = STEPS.find(([limit]) => left < limit)!;
  return `in ${Math.max(1, Math.floor(left / size))} ${unit}`;
}

/** A time of day with seconds, in the zone of the reader. */
export function formatTime(time: number): string {
  return new Date(time).toLocaleTimeString('en-GB', { hour12: false });
}

/** A date and a time, in the zone of the reader. */
export function formatDateTime(time: number): string {
  const date = new Date(time);
  return `${date.toLocaleDateString('en-CA')} ${formatTime(time)}`;
}

/** A time, with its date where it is not of today. */
export function formatMoment(time: number, now: number): string {
  const isToday = new Date(time).toDateString() === new Date(now).toDateString();
  return isToday ? formatTime(time) : formatDateTime(time);
}

/** How many times smaller `now` is than `before`: `33×`. */
export function formatRatio(before: number, now: number): string {
  if (now <= 0 || before <= now) return '1×';
  const ratio = before / now;
  return `${ratio < 10 ? ratio.toFixed(1) : formatCount(ratio)}×`;
}
