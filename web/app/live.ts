import { signal } from '@preact/signals';
import { refusedSignIns } from '../api/http.js';

/** One event of `/v1/events`. */
export interface LiveEvent {
  readonly type: string;
  readonly server?: string;
  readonly [field: string]: unknown;
}

/** How the page hears of changes: not yet, at once, or not at all while toolscout is away. */
export type LiveState = 'connecting' | 'live' | 'lost';

/** How the page hears of changes. */
export const liveState = signal<LiveState>('connecting');
/** Rises each time that the connection is there again: what is shown may be old then. */
export const reconnects = signal(0);

/** Whether an event is about the config file: it was taken over, or is not used. */
export function isConfigEvent({ type }: LiveEvent): boolean {
  return type === 'reloaded' || type === 'reload-failed';
}

const EVENT_TYPES = [
  'hello',
  'state',
  'learned',
  'learn-failed',
  'reloaded',
  'reload-failed',
  'approval',
  'reconsidered',
  'notification',
  'calls',
  'asks',
  'dropped',
];
const RETRY_MS = [500, 1000, 2000, 4000, 5000];

const listeners = new Set<(event: LiveEvent) => void>();

/** Hears of every event until the returned function is called. */
export function onLiveEvent(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How long to wait before the attempt with this number. */
export function retryDelay(attempt: number): number {
  return RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)]!;
}

let reopen: (() => void) | undefined;

/** Opens the stream of events again at once, without counting it as a reconnect. */
export function reopenEvents(): void {
  reopen?.();
}

/** Follows `/v1/events` for as long as the page is open, and comes back by itself after a restart of the server. */
export function followEvents(): () => void {
  let source: EventSource | undefined;
  let attempt = 0;
  let wasLive = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = (): void => {
    source = new EventSource('/v1/events');
    source.addEventListener('hello', () => {
      attempt = 0;
      liveState.value = 'live';
      if (wasLive) reconnects.value += 1;
      wasLive = true;
    });
    const tell = (message: MessageEvent<string>): void => {
      const event = JSON.parse(message.data) as LiveEvent;
      for (const listener of listeners) listener({ ...event, type: event.type ?? message.type });
    };
    for (const type of EVENT_TYPES) source.addEventListener(type, tell);
    source.onerror = () => {
      source?.close();
      liveState.value = 'lost';
      again();
    };
  };
  // A stream that is refused says no status: a plain request tells whether toolscout is away or wants a sign-in.
  const retry = async (): Promise<void> => {
    try {
      const answer = await fetch('/v1/session', { cache: 'no-store' });
      if (answer.status === 401) refusedSignIns.value += 1;
      open();
    } catch {
      // It is still away.
      again();
    }
  };
  const again = (): void => {
    timer = setTimeout(() => void retry(), retryDelay(attempt));
    attempt += 1;
  };
  open();
  reopen = () => {
    source?.close();
    clearTimeout(timer);
    wasLive = false;
    liveState.value = 'connecting';
    open();
  };
  return () => {
    reopen = undefined;
    source?.close();
    clearTimeout(timer);
    liveState.value = 'connecting';
  };
}
