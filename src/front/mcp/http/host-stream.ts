import type { Clock, Timer } from '../../../kernel/clock.js';
import { MAX_WAITING } from './bounded-stream.js';

/** A stream sends a comment this often, so that no proxy on the way closes it. */
const KEEP_ALIVE_MS = 15_000;

const encoder = new TextEncoder();

/** What a stream to a host is made of. */
export interface HostStreamOptions {
  readonly clock: Clock;
  /** Headers besides those of every stream of events. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Called when its reader has gone, or does not read what waits for it. */
  readonly onLeft?: () => void;
}

/** An event with a JSON-RPC message, and with an id where the host may come back for what follows it. */
export function eventOf(text: string, id?: string): string {
  return id === undefined ? `event: message\ndata: ${text}\n\n` : `event: message\nid: ${id}\ndata: ${text}\n\n`;
}

/** A stream of events to one host, which is bounded where the host does not read (A28). */
export class HostStream {
  readonly response: Response;
  isOpen = true;
  private controller!: ReadableStreamDefaultController<Uint8Array>;
  private timer: Timer | undefined;
  /** Sizes of what was written and may not have been read. */
  private readonly sizes: number[] = [];
  private waiting = 0;

  constructor(private readonly options: HostStreamOptions) {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.controller = controller;
      },
      cancel: () => {
        this.isOpen = false;
        this.timer?.cancel();
        options.onLeft?.();
      },
    });
    this.response = new Response(body, {
      headers: {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        connection: 'keep-alive',
        'x-accel-buffering': 'no',
        ...options.headers,
      },
    });
    this.keepAlive();
  }

  /** Writes an event. An event with `mayEnd` ends the stream when too many bytes wait for the reader. */
  write(event: string, mayEnd: boolean): void {
    if (!this.isOpen) return;
    const bytes = encoder.encode(event);
    // One chunk is counted as being read as soon as it is written.
    const read = this.sizes.length - (1 - (this.controller.desiredSize ?? 1));
    for (const size of read > 0 ? this.sizes.splice(0, read) : []) this.waiting -= size;
    this.sizes.push(bytes.length);
    this.waiting += bytes.length;
    if (mayEnd && this.waiting > MAX_WAITING) return this.breakOff();
    this.controller.enqueue(bytes);
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.timer?.cancel();
    this.controller.close();
  }

  /** Ends the stream: normally where the host can resume it, with an error where events are lost. */
  private breakOff(): void {
    const { onLeft } = this.options;
    if (!onLeft) return this.close();
    this.isOpen = false;
    this.timer?.cancel();
    this.controller.error(new Error('Too much waits for a client that does not read.'));
    onLeft();
  }

  private keepAlive(): void {
    this.timer = this.options.clock.after(KEEP_ALIVE_MS, () => {
      this.write(': keepalive\n\n', true);
      if (this.isOpen) this.keepAlive();
    });
  }
}
