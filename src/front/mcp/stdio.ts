import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { withFastLane } from './fast-lane.js';
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
  const handle = serveStdio(() => createMcpServer(deps), {
    transport: withFastLane(createHostTransport(deps), deps),
    onerror: (error) => deps.log.warn('mcp.stdio', { error: error.message }),
  });
  return { closed, close: () => handle.close() };
}
