import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { excessIn } from '../../kernel/json-bounds.js';
import { isObject } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { mebibytes, oneLine, printable } from '../../kernel/text.js';
import type { Child, ChildExit } from './child.js';
import type { Tap } from './tap.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';
import { readHeads } from '../../protocol/message-head.js';
import { createLineReader, createLineWriter, isMessage, UnwrittenError } from '../../protocol/lines.js';
import { ASK_FOR_LESS, createUnsolicitedBudget, cutOff, NOISE_WEIGHT, SEND_LESS } from './unsolicited.js';

/** A child that ends takes a moment between the end of its output and its exit, in either order. */
const LAST_WORDS_MS = 100;
/** A server that does not read its stdin may make us hold this much beside the message that is being sent. */
const UNREAD_BYTES = 16 * 1024 * 1024;
/** The maximum that is read from a child after the request to end. */
const DRAINED_BYTES = 1024 * 1024;
/** What is read of stderr in one burst and per second; beyond that the child has to wait. */
const STDERR_BURST_BYTES = 4 * 1024 * 1024;
const STDERR_BYTES_PER_SECOND = 1024 * 1024;
/** How much of stderr is looked at for the last line. */
const TAIL_CHARS = 4096;

/** What a crashing Node.js prints below its message: the stack, the fields of the error, its own version. */
const TRACE = /^(?:\s+at |\s+\w+: |Node\.js v\d|[\s})\]]*$)/;

/** A transport over the pipes of a child. */
export interface StdioTransport extends Transport {
  readonly pid: number;
  readonly closed: boolean;
  /** Why the connection ended, as a sentence for people; `undefined` while it lives or when we closed it. */
  readonly lost: ToolscoutError | undefined;
  /** What it wrote to stderr last, as one line; empty if nothing. */
  lastStderrLine(): string;
  /** Counts the message in hand as one that was not asked for; `false` when the child was cut off for it. */
  countUnsolicited(): boolean;
}

/** What a stdio transport needs to know of the world. */
export interface StdioTransportOptions {
  readonly server: string;
  readonly clock: Clock;
  /** Called for every line on stdout that is no protocol message (S22). */
  readonly onNoise?: () => void;
  /** Called with what the child writes to stderr; it is never parsed. */
  readonly onStderr?: (chunk: string) => void;
  /** Gets every line in both directions. */
  readonly tap?: Tap;
  /** Takes secrets out of a line of stderr before it is shown. */
  readonly mask?: (text: string) => string;
}

/** A message whose write failed; it may have arrived nevertheless when it was not alone in the queue. */
interface Broken {
  readonly reject: (error: ToolscoutError) => void;
  readonly alone: boolean;
}

function describeExit(exit: ChildExit | undefined): string {
  if (exit === undefined) return 'closed its connection';
  return exit.signal === null ? `exited with code ${exit.code}` : `was ended by ${exit.signal}`;
}

/** The end of a request whose answer is not valid JSON: Python writes NaN, and some servers cut long answers off. */
function failedAnswer(line: string, why: string): JSONRPCMessage | undefined {
  if (!line.startsWith('{') || !line.includes('"jsonrpc"')) return undefined;
  const [head] = readHeads(Buffer.from(line));
  if (head?.id === undefined || head.method !== undefined) return undefined;
  const message = `its answer is not valid JSON: ${oneLine(printable(why), 200)}`;
  return { jsonrpc: '2.0', id: head.id, error: { code: RPC_CODE.parseError, message } };
}

/** The end of a request whose answer is JSON and no message of JSON-RPC 2.0; `undefined` for other noise. */
function misshapenAnswer(value: unknown): JSONRPCMessage | undefined {
  if (!isObject(value) || value['method'] !== undefined) return undefined;
  const { id } = value;
  const isAnswer = ['jsonrpc', 'result', 'error'].some((key) => Object.hasOwn(value, key));
  if (!isAnswer || (typeof id !== 'number' && typeof id !== 'string')) return undefined;
  const message = 'its answer is not a JSON-RPC 2.0 message';
  return { jsonrpc: '2.0', id, error: { code: RPC_CODE.invalidRequest, message } };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // The end of the process cut it off.
    return false;
  }
}

/** The MCP stdio transport over a child that already runs; it owns the child from now on. */
export function createStdioTransport(child: Child, options: StdioTransportOptions): StdioTransport {
  const { server, clock } = options;
  let started = false;
  let closed = false;
  let lost: ToolscoutError | undefined;
  let openPipes = 2;
  let lastWords: { cancel(): void } | undefined;
  let stderrTail = '';
  let lineBytes = 0;
  const broken: Broken[] = [];
  const budget = createUnsolicitedBudget(clock);

  const unsent = (alone = true): ToolscoutError => {
    const message = lost?.message ?? `The connection to "${server}" is closed.`;
    return new ToolscoutError('SERVER_CONNECTION_ERROR', message, {
      delivered: alone ? false : undefined,
      cause: lost,
    });
  };

  const lastStderrLine = (): string => {
    const lines = stderrTail.split('\n');
    const last = lines.findLast((line) => !TRACE.test(line)) ?? lines.findLast((line) => line.trim() !== '');
    return last === undefined ? '' : oneLine(printable(options.mask ? options.mask(last) : last), 300);
  };

  /** Read on, for a while: a server that says goodbye on stdout must be able to end in order. */
  const drain = (): void => {
    let drained = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      drained += chunk.length;
      if (drained > DRAINED_BYTES) child.stdout.destroy();
    });
    child.stdout.resume();
  };

  const finish = (why: ToolscoutError | undefined): void => {
    if (closed) return;
    writer.flush();
    closed = true;
    lost = why;
    lastWords?.cancel();
    child.stdout.removeAllListeners('data');
    drain();
    for (const { reject, alone } of broken) reject(unsent(alone));
    void child.stop();
    transport.onclose?.();
  };

  const ended = (): void => {
    if (closed) return;
    if (openPipes > 0 || child.exit === undefined) {
      lastWords ??= clock.after(LAST_WORDS_MS, conclude);
      return;
    }
    conclude();
  };

  const conclude = (): void => {
    // Some servers leave out the end of their last line.
    const rest = reader.rest();
    if (isJson(rest)) onLine(rest);
    const said = lastStderrLine();
    const message = `The server "${server}" ${describeExit(child.exit)}${said === '' ? '' : `: ${said}`}`;
    finish(new ToolscoutError('SERVER_CONNECTION_ERROR', message));
  };

  /** A child that floods is not drained and not asked to end: it costs the others as long as it runs. */
  const disconnect = (why: ToolscoutError): void => {
    reader.stop();
    child.stdout.destroy();
    void child.kill();
    finish(why);
  };

  const count = (weight?: number): boolean => {
    const tolerated = budget.spend(lineBytes, weight);
    // Of a batch the bytes count once.
    lineBytes = 0;
    if (!tolerated) disconnect(cutOff(server));
    return tolerated;
  };

  const deliver = (message: unknown): void => {
    if (closed) return;
    if (!isMessage(message)) {
      options.onNoise?.();
      const failure = misshapenAnswer(message);
      if (failure) transport.onmessage?.(failure);
      count(NOISE_WEIGHT);
      return;
    }
    try {
      transport.onmessage?.(message as unknown as JSONRPCMessage);
    } catch (thrown) {
      // One message that cannot be handled must not end the process that reads it.
      transport.onerror?.(thrown instanceof Error ? thrown : new Error(String(thrown)));
    }
  };

  const onLine = (line: string): void => {
    if (closed) return;
    options.tap?.('stdout', line);
    lineBytes = line.length;
    const excess = excessIn(line);
    if (excess !== undefined) {
      const reason = `The server "${server}" sent a line that ${excess} and was disconnected.`;
      disconnect(new ToolscoutError('SERVER_CONNECTION_ERROR', reason));
      return;
    }
    let message: unknown;
    try {
      message = line === '' ? undefined : JSON.parse(line);
    } catch (thrown) {
      // Not protocol, such as a banner or a stray print; or an answer that its request must not wait for.
      const failure = failedAnswer(line, messageOf(thrown));
      if (failure) transport.onmessage?.(failure);
    }
    if (message === undefined) {
      // An empty line is not worth a word, but many of them are.
      if (line.trim() !== '') options.onNoise?.();
      count(NOISE_WEIGHT);
      return;
    }
    // Revision 2025-03-26 allowed batches.
    if (Array.isArray(message) && message.length > 0) for (const each of message) deliver(each);
    else deliver(message);
  };

  const reader = createLineReader(LIMITS.lineBytes, onLine);
  const writer = createLineWriter(child.stdin);

  /**
   * A line that broke off is no request, but of several that waited together some may have arrived
   * whole. They are refused when it is known how the child ended, which explains more.
   */
  const notWritten = (thrown: unknown): Promise<void> =>
    new Promise((_resolve, reject) => {
      const alone = thrown instanceof UnwrittenError && thrown.alone;
      broken.push({ reject, alone });
      if (closed) reject(unsent(alone));
      else ended();
    });

  const onData = (chunk: Buffer): void => {
    if (reader.take(chunk)) return;
    const message = `The server "${server}" sent a line of more than ${mebibytes(LIMITS.lineBytes)} and was disconnected.`;
    disconnect(new ToolscoutError('SERVER_CONNECTION_ERROR', message, { suggestion: ASK_FOR_LESS }));
  };

  let stderrBytes = STDERR_BURST_BYTES;
  let stderrRead = clock.monotonic();

  const onStderr = (chunk: string): void => {
    stderrTail = (stderrTail + chunk).slice(-TAIL_CHARS);
    options.onStderr?.(chunk);
    options.tap?.('stderr', chunk.replace(/\n$/, ''));
    stderrBytes -= chunk.length;
    if (stderrBytes >= 0) return;
    const now = clock.monotonic();
    const refilled = stderrBytes + ((now - stderrRead) / 1000) * STDERR_BYTES_PER_SECOND;
    stderrBytes = Math.min(STDERR_BURST_BYTES, refilled);
    stderrRead = now;
    if (stderrBytes >= 0 || closed) return;
    child.stderr.pause();
    clock.after((-stderrBytes / STDERR_BYTES_PER_SECOND) * 1000, () => child.stderr.resume());
  };

  const transport: StdioTransport = {
    pid: child.pid,
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
    get closed() {
      return closed;
    },
    get lost() {
      return lost;
    },
    lastStderrLine,
    countUnsolicited: () => count(),
    async start() {
      // Twice is fine: a probe may speak before the client takes over.
      if (started) return;
      started = true;
      child.stdout.on('data', onData);
      for (const pipe of [child.stdout, child.stderr]) {
        pipe.once('close', () => {
          openPipes -= 1;
          // Some servers close stderr early on; only the end of stdout says that nothing more will come.
          if (pipe === child.stdout || lastWords) ended();
        });
      }
      void child.exited.then(ended);
    },
    send(message) {
      if (closed) return Promise.reject(unsent());
      if (writer.waiting > UNREAD_BYTES) {
        const message = `The server "${server}" does not read its requests and was disconnected.`;
        disconnect(new ToolscoutError('SERVER_CONNECTION_ERROR', message, { suggestion: SEND_LESS }));
        return Promise.reject(unsent());
      }
      const line = JSON.stringify(message);
      options.tap?.('us', line);
      return writer.write(`${line}\n`).catch(notWritten);
    },
    async close() {
      finish(undefined);
      await child.stop();
    },
  };

  child.stderr.setEncoding('utf8');
  child.stderr.on('data', onStderr);
  return transport;
}
