import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Callback, Interaction } from './flow.js';

const PATH = '/callback';

/** How a person is reached. */
export interface BrowserOptions {
  /** The server that is signed in to. */
  readonly server: string;
  /** Shows a page to the person; it never goes through a shell. */
  readonly open: (url: string) => void | Promise<void>;
  /** Asks for the address the browser was sent to, where it cannot reach this machine. */
  readonly paste?: (signal: AbortSignal) => Promise<string>;
  /** The port to be sent back to; any free one when it is absent. */
  readonly port?: number;
  /** A port that is used when it is free: an authorization server may know it from before. */
  readonly preferredPort?: number;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A page without scripts, links or anything of the request in it. */
function page(title: string, text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>toolscout</title><body style="font-family:sans-serif;margin:4rem auto;max-width:32rem"><h1>${title}</h1><p>${text}</p></body></html>`;
}

function respond(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(body);
}

/** Characters with a meaning to some shell or protocol handler, written so that they have none. */
function inert(url: URL): string {
  return url.href.replace(
    /["'`$()|;<>^\\{}\s]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

/** What was pasted: the whole address, only its query, or only the code. */
export function readPasted(text: string): Callback {
  const trimmed = text.trim();
  const query = trimmed.includes('?') ? trimmed.slice(trimmed.indexOf('?') + 1) : trimmed;
  if (/(^|&)(code|error)=/.test(query)) return { params: new URLSearchParams(query.split('#')[0]) };
  return { params: new URLSearchParams({ code: trimmed }), isBareCode: true };
}

/**
 * Listens on this machine for the redirect that ends a sign-in. Only a GET for the right path and host
 * that carries the expected `state` counts, and only the first; whatever else arrives is answered and ignored.
 */
export async function openBrowserInteraction(options: BrowserOptions): Promise<Interaction> {
  let expected: { readonly state: string; readonly take: (callback: Callback) => void } | undefined;

  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const { port } = server.address() as AddressInfo;
    const isHere = request.headers.host === `127.0.0.1:${port}` || request.headers.host === `localhost:${port}`;
    if (request.method !== 'GET' || url.pathname !== PATH || !isHere) {
      return respond(response, 404, page('Nothing here', 'This address only ends a sign-in.'));
    }
    if (!expected || url.searchParams.get('state') !== expected.state) {
      return respond(
        response,
        400,
        page('Not expected', 'This answer does not belong to a sign-in that is under way.'),
      );
    }
    respond(response, 200, page('Done here', 'You can close this window; toolscout says how it went.'));
    const { take } = expected;
    expected = undefined;
    take({ params: url.searchParams });
  };

  const { createServer } = await import('node:http');
  const server = createServer((request, response) => {
    try {
      onRequest(request, response);
    } catch {
      // A request line that is no address.
      respond(response, 400, page('Not understood', 'This request is not a valid answer to a sign-in.'));
    }
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  try {
    await listen(options.port ?? options.preferredPort ?? 0);
  } catch (thrown) {
    if (options.port !== undefined) {
      throw new ToolscoutError(
        'CONFIGURATION_ERROR',
        `Port ${options.port} (auth.redirectPort) cannot be used: ${messageOf(thrown)}`,
        {
          remedy: {
            kind: 'configure',
            what: 'Stop the program that uses the port, or set another auth.redirectPort.',
          },
        },
      );
    }
    await listen(0);
  }
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`;

  return {
    redirectUri,
    async authorize(url, state) {
      const { clock, timeoutMs, signal } = options;
      const done = new AbortController();
      const cancelled = (): ToolscoutError =>
        new ToolscoutError('CANCELLED', 'The sign-in was cancelled.', { delivered: false });
      const waiting = new Promise<Callback>((resolve, reject) => {
        expected = { state, take: resolve };
        const timer = clock.after(
          timeoutMs,
          () =>
            reject(
              new ToolscoutError(
                'AUTHENTICATION_FAILED',
                `The sign-in timed out after ${Math.round(timeoutMs / 1000)} s.`,
                { remedy: { kind: 'sign-in', server: options.server, again: true } },
              ),
            ),
          { awaited: true },
        );
        const onAbort = (): void => reject(cancelled());
        if (signal?.aborted) onAbort();
        signal?.addEventListener('abort', onAbort, { once: true });
        done.signal.addEventListener('abort', () => {
          timer.cancel();
          signal?.removeEventListener('abort', onAbort);
        });
      });
      // Opening may take as long as the page is shown; only its failure matters here.
      const opened = Promise.resolve()
        .then(() => options.open(inert(url)))
        .then(() => new Promise<never>(() => undefined));
      const pasted = options.paste?.(done.signal).then(readPasted);
      try {
        return await Promise.race([waiting, opened, ...(pasted ? [pasted] : [])]);
      } finally {
        expected = undefined;
        waiting.catch(() => undefined);
        opened.catch(() => undefined);
        pasted?.catch(() => undefined);
        done.abort();
      }
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
