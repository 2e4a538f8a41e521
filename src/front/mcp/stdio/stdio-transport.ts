import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { messageOf } from '../../../kernel/errors.js';
import { excessIn } from '../../../kernel/json-bounds.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { LIMITS } from '../../../kernel/limits.js';
import { createLineReader, createLineWriter, introductionFault, isMessage } from '../../../protocol/lines.js';

/** The pipes of a host. */
export interface HostPipes {
  readonly input: NodeJS.ReadableStream;
  readonly output: Writable;
}

/** JSON-RPC says: an id that could not be read is null. */
const PARSE_ERROR = `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: RPC_CODE.parseError, message: 'Parse error' } })}\n`;

/**
 * The MCP stdio transport toward a host. Messages are checked for their shape only, since the
 * protocol server checks what matters.
 */
export function createHostTransport({ input, output }: HostPipes): Transport {
  let started = false;
  let closed = false;

  const fail = (message: string): void => transport.onerror?.(new Error(message));

  const writer = createLineWriter(output);
  /** A host that does not read any more is noticed by its pipe, not by each answer. */
  const gone = (): void => undefined;
  let batch: Promise<void> | undefined;
  let heeded: Promise<void> = Promise.resolve();
  const post = (line: string): Promise<void> => {
    if (closed) return Promise.resolve();
    const written = writer.write(line);
    // Lines that are written together have one promise.
    if (written !== batch) heeded = written.catch(gone);
    batch = written;
    return heeded;
  };

  const onLine = (line: string): void => {
    if (closed || line.trim() === '') return;
    const excess = excessIn(line);
    if (excess !== undefined) {
      fail(`The host sent a line that ${excess}.`);
      void post(PARSE_ERROR);
      return;
    }
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (thrown) {
      fail(`The host sent a line that is not JSON: ${messageOf(thrown)}`);
      void post(PARSE_ERROR);
      return;
    }
    const fault = introductionFault(message);
    if (fault !== undefined) {
      fail(`The host sent a message that is not valid: ${fault}.`);
      void post(PARSE_ERROR);
      return;
    }
    // Revision 2025-03-26 allowed batches; each member is answered by itself.
    let hasOther = false;
    for (const each of Array.isArray(message) ? message : [message]) {
      if (isMessage(each)) transport.onmessage?.(each as unknown as JSONRPCMessage);
      else hasOther = true;
    }
    // Once a line: a batch may have very many.
    if (hasOther) fail('The host sent JSON that is not a JSON-RPC 2.0 message.');
  };

  const reader = createLineReader(LIMITS.lineBytes, onLine);
  const onData = (chunk: Buffer): void => {
    if (reader.take(chunk)) return;
    fail(`The host sent a line of more than ${LIMITS.lineBytes} bytes.`);
    void transport.close();
  };
  const onEnd = (): void => void transport.close();
  const onError = (error: Error): void => {
    fail(error.message);
    // A host that no longer reads is gone.
    void transport.close();
  };

  const transport: Transport = {
    onclose: undefined,
    onerror: undefined,
    onmessage: undefined,
    async start() {
      if (started) return;
      started = true;
      input.on('data', onData);
      // A socket whose first line was read elsewhere is paused.
      input.resume();
      input.once('end', onEnd);
      input.once('close', onEnd);
      input.once('error', onError);
      output.once('error', onError);
    },
    send(message) {
      if (closed) return Promise.resolve();
      const sent = post(`${JSON.stringify(message)}\n`);
      // Hosts drop the progress of a call with its answer, and many handle a notification later than an answer in the
      // same chunk: these two must not be written together.
      if ('method' in message) writer.flush();
      return sent;
    },
    async close() {
      if (closed) return;
      writer.flush();
      closed = true;
      input.removeListener('data', onData);
      transport.onclose?.();
    },
  };
  return transport;
}
