import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { newId } from '../../kernel/ids.js';
import { createFront } from './front.js';
import { createMcpServer, type FrontDeps } from './server.js';
import { createHostTransport, type HostPipes } from './stdio-transport.js';

/** A running stdio front. */
export interface StdioFront {
  /** Resolves when the host has closed the connection. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one host over its pipes, in whichever era it opens with. */
export function serveMcpStdio(deps: FrontDeps & HostPipes): StdioFront {
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) deps.input.once(event, () => resolve());
    deps.output.once('error', () => resolve());
  });
  const front = createFront(deps);
  const sender = { principal: 'local', connection: newId() };
  const lane = front.laneFor(createHostTransport(deps), { principal: sender.principal, sessionId: newId });
  const handle = serveStdio(
    () => {
      const offer = lane.offer ?? front.offerFor({});
      return createMcpServer(offer, (request, context) => front.modern.answer(offer, request, context, sender));
    },
    { transport: lane, onerror: (error) => deps.log.warn('mcp.stdio', { error: error.message }) },
  );
  return {
    closed,
    async close() {
      front.close();
      await handle.close();
    },
  };
}
