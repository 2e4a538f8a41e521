import type { Clock, Timer } from '../../kernel/clock.js';

/** What bounds a stream on which somebody only listens. */
export interface ListeningOptions {
  readonly clock: Clock;
  /** When whoever listens is not let in any more, in milliseconds since 1970. */
  readonly until?: number;
  /** Called when somebody begins to listen; the answer is called when they do not any more, however that came about. */
  readonly onBegin?: () => () => void;
}

const isStream = ({ ok, headers }: Response): boolean =>
  ok && (headers.get('content-type') ?? '').startsWith('text/event-stream');

/** The same answer; a stream of events in it ends at the latest when its listener is not let in any more. */
export function boundListening(response: Response, { clock, until, onBegin }: ListeningOptions): Response {
  if (!isStream(response) || !response.body) return response;
  const reader = response.body.getReader();
  const onEnd = onBegin?.();
  let timer: Timer | undefined;
  let isOver = false;
  const finish = (): void => {
    isOver = true;
    timer?.cancel();
    onEnd?.();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        if (until === undefined) return;
        timer = clock.after(Math.max(0, until - clock.now()), () => {
          finish();
          controller.close();
          void reader.cancel();
        });
      },
      async pull(controller) {
        const { done, value } = await reader.read();
        if (isOver) return;
        if (!done) return controller.enqueue(value);
        finish();
        controller.close();
      },
      cancel(reason) {
        finish();
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
