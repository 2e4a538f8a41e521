import type { Call, CallResult, Progress } from '../model/call.js';

/** What a streamed call gives: any number of progress reports, then one result. */
export type CallEvent =
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'result'; readonly result: CallResult };

/** Progress kept for a consumer that is slower than the server; the oldest goes first. */
const MAX_KEPT = 1000;

/**
 * Runs a call as a stream. It begins with the first step of the loop; leaving the loop early, or
 * `return()` at any moment, cancels it.
 */
export function streamCall(call: Call, execute: (call: Call) => Promise<CallResult>): AsyncIterable<CallEvent> {
  return {
    [Symbol.asyncIterator]() {
      const controller = new AbortController();
      const cancel = (): void => controller.abort();
      const events = generate(call, execute, controller);
      return {
        next: () => events.next(),
        return: () => {
          // A generator only sees `return` between two steps; the call must not run on until then.
          cancel();
          return events.return(undefined);
        },
      };
    },
  };
}

async function* generate(
  call: Call,
  execute: (call: Call) => Promise<CallResult>,
  controller: AbortController,
): AsyncGenerator<CallEvent, undefined> {
  const cancel = (): void => controller.abort();
  const waiting: Progress[] = [];
  let result: CallResult | undefined;
  let failed: { readonly thrown: unknown } | undefined;
  let wake: (() => void) | undefined;

  if (call.signal?.aborted) cancel();
  call.signal?.addEventListener('abort', cancel, { once: true });
  const running = execute({
    ...call,
    signal: controller.signal,
    onProgress(progress) {
      call.onProgress?.(progress);
      waiting.push(progress);
      if (waiting.length > MAX_KEPT) waiting.shift();
      wake?.();
    },
  });
  running
    .then((value) => (result = value))
    .catch((thrown: unknown) => (failed = { thrown }))
    .finally(() => wake?.());

  try {
    for (;;) {
      for (let next = waiting.shift(); next; next = waiting.shift()) yield { type: 'progress', progress: next };
      if (failed) throw failed.thrown;
      if (result) break;
      await new Promise<void>((resolve) => (wake = resolve));
    }
    yield { type: 'result', result };
    return undefined;
  } finally {
    call.signal?.removeEventListener('abort', cancel);
    cancel();
  }
}
