import type { Clock, Timer } from '../../kernel/clock.js';

/** Server-sent events to one client. */
export interface EventStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Sends an event; what a slow client has not taken is dropped, the oldest first, and counted. */
  send(event: string, data: unknown): void;
  /** Ends the stream when everything has been taken. */
  end(): void;
}

/** How a stream behaves. */
export interface EventStreamOptions {
  readonly clock: Clock;
  /** Called once, when the client has gone or the stream has ended. */
  readonly onClose: () => void;
  /** The client's connection. */
  readonly signal: AbortSignal;
  /** Whether the client may still listen; asked before every event and with every heartbeat, after a no it ends. */
  readonly mayListen?: () => boolean;
}

/** A stream sends a comment this often, so that no proxy on the way closes it. */
const HEARTBEAT_MS = 15_000;
/** Events kept for a client that does not read. */
const MAX_KEPT = 500;
/** Characters kept for a client that does not read. */
const MAX_CHARACTERS = 8 * 1024 * 1024;

/** The content type of server-sent events. */
export const EVENT_STREAM = 'text/event-stream';

/** Headers of every stream of events: no cache, and no proxy that gathers. */
export const EVENT_HEADERS = { 'cache-control': 'no-store', 'x-accel-buffering': 'no' } as const;

/** Whether a request asks for events rather than for one answer. */
export function wantsEvents(request: Request): boolean {
  const accepted = (request.headers.get('accept') ?? '').toLowerCase().split(',');
  return accepted.some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim());
    // A weight of nothing says that it is not wanted.
    return type === EVENT_STREAM && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}

/** A stream of events with a heartbeat and a bounded memory; it ends with its client. */
export function createEventStream(options: EventStreamOptions): EventStream {
  const { clock, onClose, signal, mayListen = () => true } = options;
  const encoder = new TextEncoder();
  const waiting: string[] = [];
  let kept = 0;
  let dropped = 0;
  let isEnding = false;
  let isClosed = false;
  let wake: (() => void) | undefined;
  let heart: Timer | undefined;

  const close = (): void => {
    if (isClosed) return;
    isClosed = true;
    heart?.cancel();
    signal.removeEventListener('abort', close);
    waiting.length = 0;
    wake?.();
    onClose();
  };

  const end = (): void => {
    isEnding = true;
    heart?.cancel();
    wake?.();
  };

  const put = (chunk: string): void => {
    if (isClosed || isEnding) return;
    if (!mayListen()) return end();
    waiting.push(chunk);
    kept += chunk.length;
    while (waiting.length > 1 && (waiting.length > MAX_KEPT || kept > MAX_CHARACTERS)) {
      kept -= waiting.shift()!.length;
      dropped += 1;
    }
    wake?.();
  };

  const isIdle = (): boolean => waiting.length === 0 && !isClosed && !isEnding;

  const beat = (): void => {
    heart = clock.after(HEARTBEAT_MS, beat);
    // A client that does not even take its heartbeats needs no more of them.
    if (waiting.length === 0) put(': alive\n\n');
    else if (!mayListen()) end();
  };
  heart = clock.after(HEARTBEAT_MS, beat);
  if (signal.aborted) close();
  else signal.addEventListener('abort', close, { once: true });

  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        while (isIdle()) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
        const next = waiting.shift();
        if (next === undefined) {
          close();
          controller.close();
          return;
        }
        kept -= next.length;
        const lost = dropped > 0 ? `event: dropped\ndata: ${JSON.stringify({ count: dropped })}\n\n` : '';
        dropped = 0;
        controller.enqueue(encoder.encode(lost + next));
      },
      cancel: close,
    },
    { highWaterMark: 0 },
  );

  return {
    body,
    // JSON has no line breaks, so that nothing in the data can become an event of its own.
    send: (event, data) => put(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`),
    end,
  };
}
