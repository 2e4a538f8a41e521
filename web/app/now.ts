import { signal } from '@preact/signals';

/** The time, as often as "5 min ago" needs it. */
export const now = signal(Date.now());

/** Keeps the time current. */
export function startNow(): () => void {
  const timer = setInterval(() => (now.value = Date.now()), 5000);
  return () => clearInterval(timer);
}
