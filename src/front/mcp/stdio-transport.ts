import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/server';
import { messageOf } from '../../kernel/errors.js';
import { isMessage } from '../../kernel/json-rpc.js';
import { LIMITS } from '../../kernel/limits.js';
import { createLineReader } from '../../kernel/lines.js';

/** The pipes of a host. */
export interface HostPipes {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/** JSON-RPC says: an id that could not be read is null. */
const PARSE_ERROR = `${JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32_700, message: 'Parse error' } })}\n`;

/**
 * The MCP stdio transport toward a host. Messages are checked for their shape only, since the
 * protocol server checks what matters. Each is written at once: gathering those of one turn saves
 * system calls but makes the processes wait for each other, which costs more.
 */
export function createHostTransport({ input, output }: HostPipes): Transport {
  let started = false;
  let closed = false;

  const fail = (message: string): void => transport.onerror?.(new Error(message));

  const post = (line: string): Promise<void> =>
    new Promise((resolve) => {
      if (closed) resolve();
      else output.write(line, () => resolve());
    });

  const onLine = (line: string): void => {
    if (closed || line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch (thrown) {
      fail(`The host sent a line that is not JSON: ${messageOf(thrown)}`);
      void post(PARSE_ERROR);
      return;
    }
    // Revision 2025-03-26 allowed batches; each member is answered by itself.
    for (const each of Array.isArray(message) ? message : [message]) {
      if (isMessage(each)) transport.onmessage?.(each as unknown as JSONRPCMessage);
      else fail('The host sent JSON that is not a JSON-RPC 2.0 message.');
    }
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
      input.once('end', onEnd);
      input.once('close', onEnd);
      input.once('error', onError);
      output.once('error', onError);
    },
    send: (message) => (closed ? Promise.resolve() : post(`${JSON.stringify(message)}\n`)),
    async close() {
      if (closed) return;
      closed = true;
      input.removeListener('data', onData);
      transport.onclose?.();
    },
  };
  return transport;
}
