import type { Clock, Timer } from '../../../kernel/clock.js';

/** Bytes that wait for a reader; a stream with more is broken off (A28). */
export const MAX_WAITING = 8 * 1024 * 1024;

/** What bounds a stream of events besides the patience with its reader. */
export interface StreamBounds {
  readonly clock: Clock;
  /** When its reader is not let in any more, in milliseconds since 1970. */
  readonly until?: number;
  /** Called when the stream begins; the function it returns is called when the stream has ended, for any reason. */
  readonly onBegin?: () => () => void;
}

const isStream = ({ ok, headers }: Response): boolean =>
  ok && (headers.get('content-type') ?? '').startsWith('text/event-stream');

/**
 * The same answer; a stream of events in it ends at the latest when its reader is not let in any more, and breaks when
 * too much waits for them. It costs something, so answers that come alone are not put through here.
 */
export function boundStream(response: Response, { clock, until, onBegin }: StreamBounds): Response {
  if (!isStream(response) || !response.body) return response;
  const source = response.body.getReader();
  const onEnd = onBegin?.();
  const waiting: Uint8Array[] = [];
  let bytes = 0;
  let timer: Timer | undefined;
  let isOver = false;
  let wake: (() => void) | undefined;

  const finish = (): boolean => {
    if (isOver) return false;
    isOver = true;
    timer?.cancel();
    onEnd?.();
    wake?.();
    return true;
  };
  const isIdle = (): boolean => waiting.length === 0 && !isOver;
  const stop = (): void => {
    if (finish()) void source.cancel();
  };
  /** Reads the source without waiting for the reader: only here are the waiting bytes counted. */
  const gather = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    for (let next = await source.read(); !next.done; next = await source.read()) {
      waiting.push(next.value);
      bytes += next.value.byteLength;
      if (bytes > MAX_WAITING) {
        waiting.length = 0;
        stop();
        return controller.error(new Error('Too much waits for a client that does not read.'));
      }
      wake?.();
    }
    finish();
  };

  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        gather(controller).catch((thrown: unknown) => {
          finish();
          controller.error(thrown);
        });
        if (until !== undefined) timer = clock.after(Math.max(0, until - clock.now()), stop);
      },
      async pull(controller) {
        while (isIdle()) await new Promise<void>((resolve) => (wake = resolve));
        const next = waiting.shift();
        if (next === undefined) return controller.close();
        bytes -= next.byteLength;
        controller.enqueue(next);
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
