import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createMcpServer, type FrontDeps } from './server.js';

/** A running stdio front. */
export interface StdioFront {
  /** Resolves when the host has closed the connection. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one host over this process's stdin and stdout, in whichever era it opens with. */
export function serveMcpStdio(deps: FrontDeps & { readonly input: NodeJS.ReadableStream }): StdioFront {
  const closed = new Promise<void>((resolve) => {
    deps.input.once('end', resolve);
    deps.input.once('close', resolve);
  });
  const handle = serveStdio(() => createMcpServer(deps), {
    onerror: (error) => deps.log.warn('mcp.stdio', { error: error.message }),
  });
  return { closed, close: () => handle.close() };
}
