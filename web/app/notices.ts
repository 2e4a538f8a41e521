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
const MAX_NOTICES = 4;

/** What is told now, oldest first. */
export const notices = signal<readonly Notice[]>([]);
let lastId = 0;

/** Takes a notice away. */
export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

/** Tells something; failures stay until they are dismissed. */
export function tell(text: string, tone: Notice['tone'] = 'ok', more?: string): void {
  lastId += 1;
  const id = lastId;
  notices.value = [...notices.value, { id, tone, text, ...(more && { more }) }].slice(-MAX_NOTICES);
  if (tone !== 'bad') setTimeout(() => dismiss(id), STAYS_MS);
}

/** Tells a failure and what to do about it. */
export function tellError(error: ApiError): void {
  tell(error.message, 'bad', error.suggestion);
}
