import { signal } from '@preact/signals';
import type { ApiError } from '../api/problem.js';

/** Something the page tells in passing. */
export interface Notice {
  readonly id: number;
  readonly tone: 'ok' | 'bad' | 'info';
  readonly text: string;
  readonly more?: string;
}

const STAYS_MS = 6000;
/** A failure is read longer. */
const FAILURE_STAYS_MS = 30_000;
const MAX_NOTICES = 4;

/** What is told now, oldest first. */
export const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** Takes a notice away. */
export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Tells something; a failure stays longer, but not on another view. */
export function tell(text: string, tone: Notice['tone'] = 'ok', more?: string): void {
  lastId += 1;
  const id = lastId;
  notices.value = [...notices.value, { id, tone, text, ...(more && { more }) }].slice(-MAX_NOTICES);
  setTimeout(() => dismiss(id), tone === 'bad' ? FAILURE_STAYS_MS : STAYS_MS);
}

/** Tells a failure and what to do about it. */
export function tellError(error: ApiError): void {
  tell(error.message, 'bad', error.suggestion);
}

/** Takes failures away: they were about the view that is left. */
export function dismissFailures(): void {
  notices.value = notices.value.filter(({ tone }) => tone !== 'bad');
}
