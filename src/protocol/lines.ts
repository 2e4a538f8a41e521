import type { Writable } from 'node:stream';
import { isDeeperThan, isObject, type JsonObject } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = 0xfeff;
/** What is kept between lines is given back when it grew beyond this. */
const KEPT_BYTES = 1024 * 1024;
const FIRST_BYTES = 4096;

/** Cuts a stream of bytes into lines, holding at most one unfinished line. */
export interface LineReader {
  /** Takes bytes; `false` when a line is longer than allowed, after which no more may be given. */
  take(chunk: Buffer): boolean;
  /** Reads no further: the rest of the chunk in hand and all later ones are dropped. */
  stop(): void;
  /** What came behind the last line end; it is given once. */
  rest(): string;
}

/** Some programs write a byte order mark before their first line. */
function textOf(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to);
  return text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text;
}

/**
 * A reader that hands every line, without its end, to `onLine`. An unfinished line grows by doubling
 * in one buffer, so a hostile server costs neither quadratic time nor an object for every byte.
 */
export function createLineReader(limit: number, onLine: (line: string) => void): LineReader {
  let held = Buffer.alloc(0);
  let used = 0;
  let stopped = false;

  const hold = (chunk: Buffer, from: number, to: number): void => {
    const needed = used + to - from;
    if (needed > held.length) {
      const grown = Buffer.allocUnsafe(Math.max(FIRST_BYTES, needed, Math.min(held.length * 2, limit)));
      held.copy(grown, 0, 0, used);
      held = grown;
    }
    used += chunk.copy(held, used, from, to);
  };

  return {
    rest() {
      const text = textOf(held, 0, used);
      used = 0;
      return text;
    },
    stop() {
      stopped = true;
      held = Buffer.alloc(0);
      used = 0;
    },
    take(chunk) {
      let from = 0;
      for (;;) {
        if (stopped) return true;
        const to = chunk.indexOf(NEWLINE, from);
        const end = to === -1 ? chunk.length : to;
        if (used + end - from > limit) return false;
        if (to === -1) {
          if (end > from) hold(chunk, from, end);
          return true;
        }
        if (used === 0) {
          onLine(textOf(chunk, from, to));
        } else {
          hold(chunk, from, to);
          const line = textOf(held, 0, used);
          used = 0;
          if (held.length > KEPT_BYTES) held = Buffer.alloc(0);
          onLine(line);
        }
        from = to + 1;
      }
    },
  };
}

/** A JSON-RPC 2.0 message: a request, a notification or an answer. */
export type JsonRpcMessage = JsonObject & { readonly jsonrpc: '2.0' };

/** Whether what a line says has the shape of a JSON-RPC 2.0 message. Deliberately light: it runs for every line. */
export function isMessage(value: unknown): value is JsonRpcMessage {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return false;
  const { id, method, params } = value;
  const named = typeof id === 'number' || typeof id === 'string';
  if (method !== undefined) {
    return typeof method === 'string' && (named || id === undefined) && (params === undefined || isObject(params));
  }
  // An error that is only a text is badly formed, and still the end of its request.
  return named && (value['result'] !== undefined || isObject(value['error']) || typeof value['error'] === 'string');
}

/** Lines on their way into a pipe. */
export interface LineWriter {
  /** Takes a line with its end; settles when it has left this process, or cannot any more. */
  write(line: string): Promise<void>;
  /** What waits to be written, in bytes and characters: a bound, not an account. */
  readonly waiting: number;
  /** Writes at once what was gathered. */
  flush(): void;
}

/** Lines that could not be written. */
export class UnwrittenError extends Error {
  override name = 'UnwrittenError';
  constructor(
    cause: Error,
    /** It was the only line on its way. Of several, some may have arrived whole. */
    readonly alone: boolean,
  ) {
    super(cause.message, { cause });
  }
}

/**
 * Gathered beyond this, lines are written without waiting for more. A small number lets the reader start while this
 * process goes on: with all sixteen of a turn at once each process waits for the others, and one by one each line costs
 * a system call. Measured at sixteen calls in flight, four lines are best.
 */
const GATHERED_LINES = 4;
const GATHERED_CHARS = 64 * 1024;

/**
 * A writer that hands the lines of one turn of the event loop to the pipe a few at a time: they cost one system call
 * and wake the reader once. Callers that wait for one write share one promise.
 */
export function createLineWriter(pipe: Writable): LineWriter {
  let gathered = '';
  let lines = 0;
  let batch: Promise<void> | undefined;
  let settle: (error?: Error) => void = () => undefined;

  const flush = (): void => {
    if (lines === 0) return;
    const text = gathered;
    const done = settle;
    const alone = lines === 1 && pipe.writableLength === 0;
    gathered = '';
    lines = 0;
    batch = undefined;
    pipe.write(text, 'utf8', (error) => done(error ? new UnwrittenError(error, alone) : undefined));
  };

  return {
    get waiting() {
      return pipe.writableLength + gathered.length;
    },
    flush,
    write(line) {
      batch ??= new Promise((resolve, reject) => {
        settle = (error) => (error ? reject(error) : resolve());
        // After everything that came in this turn, be it over sixteen connections: then its lines are written together.
        setImmediate(flush);
      });
      const written = batch;
      gathered += line;
      lines++;
      if (lines >= GATHERED_LINES || gathered.length > GATHERED_CHARS) flush();
      return written;
    },
  };
}

/** What a host says of itself, in either era, and with each request. */
const SAID = ['capabilities', 'clientInfo', '_meta'] as const;

/**
 * Why a message, or one of a batch, cannot be taken in; `undefined` when it can. What a host says of itself is hashed and compared for as
 * long as it is connected: what nests deeper than any capability would overflow the stack then (A26).
 */
export function introductionFault(body: unknown): string | undefined {
  for (const message of Array.isArray(body) ? (body as unknown[]) : [body]) {
    const params = isObject(message) ? message['params'] : undefined;
    const field = isObject(params)
      ? SAID.find((name) => params[name] !== undefined && isDeeperThan(params[name], LIMITS.depth))
      : undefined;
    if (field !== undefined) return `params.${field} nests deeper than ${LIMITS.depth} levels`;
  }
  return undefined;
}
