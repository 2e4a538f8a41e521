import { serve } from '@hono/node-server';
import type { Hono } from 'hono';
import { ToolscoutError } from '../../kernel/errors.js';
import { isLoopback } from './guard.js';

/** A listening HTTP front. */
export interface HttpFront {
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on an address; anything but loopback is refused, because nobody is asked who they are (S2). */
export function listen(app: Hono, options: { readonly host: string; readonly port: number }): Promise<HttpFront> {
  const { port } = options;
  const host = options.host.replace(/^\[(.*)\]$/, '$1');
  if (!isLoopback(host)) {
    throw new ToolscoutError(
      'CONFIGURATION_ERROR',
      `toolscout listens only on this machine (127.0.0.1, ::1 or localhost), not on "${host}": without authentication everybody on the network could call your tools.`,
      { suggestion: 'Remove http.host, or put a proxy that authenticates in front of it.' },
    );
  }
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: host, port }, (address) => {
      const shown = host.includes(':') ? `[${host}]` : host;
      resolve({
        url: `http://${shown}:${address.port}`,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            if ('closeAllConnections' in server) server.closeAllConnections();
          }),
      });
    });
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        error.code === 'EADDRINUSE'
          ? new ToolscoutError('CONFIGURATION_ERROR', `Port ${port} on ${host} is taken by another program.`, {
              suggestion: 'Stop it, or choose another port with --port.',
              cause: error,
            })
          : new ToolscoutError('CONFIGURATION_ERROR', `Cannot listen on ${host}:${port}: ${error.message}`, {
              cause: error,
            }),
      );
    });
  });
}
