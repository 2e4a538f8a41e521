import type { IncomingMessage, ServerResponse } from 'node:http';
import { readBounded } from './bounded-body.js';

/** The headers of a request, as far as they are read. */
export interface HeaderReader {
  get(name: string): string | null;
  has(name: string): boolean;
}

/** What is known of a request before its body. Every `Request` is one. */
export interface RequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderReader;
}

/** A request that came in, over a connection of Node.js or as a `Request`: its parts are made when they are asked for. */
export interface Received extends RequestHead {
  /** The whole request as a web `Request`; its body can be read only once, here or there. */
  readonly web: Request;
  /** All bytes of its body, or `undefined` as soon as they are more than `maxBytes`. */
  bytes(maxBytes: number): Promise<Uint8Array | undefined>;
  /** Calls `listener` when the client disconnects before the whole response was sent. */
  onGone(listener: () => void): void;
  /** The answer on its connection, where there is one. */
  readonly outgoing?: Pick<ServerResponse, 'once'>;
}

/** An answer that is there as a whole. It is written to a connection as it is: a `Response` costs more than many answers. */
export class PlainAnswer {
  constructor(
    readonly status: number,
    readonly headers: Record<string, string>,
    readonly body: string | null,
  ) {}

  toResponse(): Response {
    return new Response(this.body, { status: this.status, headers: this.headers });
  }

  writeTo(outgoing: ServerResponse): void {
    const { status, headers, body } = this;
    if (body === null) {
      outgoing.writeHead(status, headers).end();
      return;
    }
    headers['content-length'] = String(Buffer.byteLength(body));
    outgoing.writeHead(status, headers).end(body);
  }
}

/** An answer, whole or as a `Response`, which may be a stream. */
export type Answer = Response | PlainAnswer;

/** The same answer as a web `Response`. */
export function responseOf(answer: Answer): Response {
  return answer instanceof PlainAnswer ? answer.toResponse() : answer;
}

/** A `Request` as it came in. */
export class ReceivedRequest implements Received {
  constructor(readonly web: Request) {}

  get method(): string {
    return this.web.method;
  }

  get url(): string {
    return this.web.url;
  }

  get headers(): HeaderReader {
    return this.web.headers;
  }

  bytes(maxBytes: number): Promise<Uint8Array | undefined> {
    return readBounded(this.web, maxBytes);
  }

  onGone(listener: () => void): void {
    const { signal } = this.web;
    if (signal.aborted) listener();
    else signal.addEventListener('abort', listener, { once: true });
  }
}

/** A request and its answer on a connection of Node.js. */
export interface NodePair {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * Headers that were sent twice are joined, as the web does; Node.js would keep one of them, and others the other (A10). A few of
 * them are asked for, so they are looked for: a table of all of them costs more.
 */
class JoinedHeaders implements HeaderReader {
  constructor(private readonly raw: readonly string[]) {}

  get(name: string): string | null {
    const { raw } = this;
    let found: string | null = null;
    for (let at = 0; at < raw.length; at += 2) {
      const given = raw[at]!;
      if (given.length !== name.length || (given !== name && given.toLowerCase() !== name)) continue;
      found = found === null ? raw[at + 1]! : `${found}, ${raw[at + 1]!}`;
    }
    return found;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}

/** A host and a path that stand in an address as they came: nothing in them is escaped, climbs or is upper case. */
// No wider than what is taken for a `Request` without a look: of every other address the maker of one is the judge.
const PLAIN_HOST = /^[a-z0-9._-]+(?::(?:[1-5]\d{3,4}|[6-9]\d{3}))?$/;
const PLAIN_TARGET = /^(?:\/[\w-][\w.-]*)+$/;

/** A request on a connection of Node.js; `web` is the same, made when it is asked for: most requests of MCP never need it. */
export class NodeRequest implements Received {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderReader;
  readonly outgoing: ServerResponse;
  private readonly incoming: IncomingMessage;
  #web: Request | undefined;

  constructor(
    { incoming, outgoing }: NodePair,
    private readonly open: () => Request,
  ) {
    this.headers = new JoinedHeaders(incoming.rawHeaders);
    this.incoming = incoming;
    this.outgoing = outgoing;
    const { method = '', url = '' } = incoming;
    const host = this.headers.get('host') ?? '';
    const isPlain = method === 'POST' && PLAIN_HOST.test(host) && PLAIN_TARGET.test(url);
    this.method = isPlain ? method : this.web.method;
    this.url = isPlain ? `http://${host}${url}` : this.web.url;
  }

  get web(): Request {
    return (this.#web ??= this.open());
  }

  bytes(maxBytes: number): Promise<Uint8Array | undefined> {
    const { incoming } = this;
    if (Number(this.headers.get('content-length') ?? 0) > maxBytes) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      let isWhole = false;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBytes) chunks.push(chunk);
        else {
          chunks.length = 0;
          resolve(undefined);
        }
      });
      incoming.on('end', () => {
        isWhole = true;
        resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
      });
      incoming.on('error', reject);
      incoming.on('close', () => {
        // Every request is closed in the end, and an error without a listener would cost a stack trace.
        if (!isWhole) reject(new Error('The request was broken off.'));
      });
    });
  }

  onGone(listener: () => void): void {
    const { outgoing } = this;
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) listener();
    });
  }
}
