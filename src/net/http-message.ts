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
  /** The whole request as the web knows it; its body can be read only once, here or there. */
  readonly web: Request;
  /** All bytes of its body, or `undefined` as soon as they are more than `maxBytes`. */
  bytes(maxBytes: number): Promise<Uint8Array | undefined>;
  /** Calls `listener` when whoever asked has gone before the answer was sent whole. */
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

/** The same answer as the web knows it. */
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

/** Headers that were sent twice are joined, as the web does; Node.js would keep one of them, and others the other (A10). */
class JoinedHeaders implements HeaderReader {
  private readonly values: Record<string, string> = Object.create(null) as Record<string, string>;

  constructor(raw: readonly string[]) {
    for (let at = 0; at < raw.length; at += 2) {
      const name = raw[at]!.toLowerCase();
      const before = this.values[name];
      this.values[name] = before === undefined ? raw[at + 1]! : `${before}, ${raw[at + 1]!}`;
    }
  }

  get(name: string): string | null {
    return this.values[name] ?? null;
  }

  has(name: string): boolean {
    return this.values[name] !== undefined;
  }
}

/** A request on a connection of Node.js; `web` is the same, made as far as it is read. */
export class NodeRequest implements Received {
  readonly method: string;
  readonly url: string;
  readonly headers: HeaderReader;
  readonly outgoing: ServerResponse;
  private readonly incoming: IncomingMessage;

  constructor(
    readonly web: Request,
    { incoming, outgoing }: NodePair,
  ) {
    this.method = web.method;
    this.url = web.url;
    this.headers = new JoinedHeaders(incoming.rawHeaders);
    this.incoming = incoming;
    this.outgoing = outgoing;
  }

  bytes(maxBytes: number): Promise<Uint8Array | undefined> {
    const { incoming } = this;
    if (Number(this.headers.get('content-length') ?? 0) > maxBytes) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= maxBytes) chunks.push(chunk);
        else {
          chunks.length = 0;
          resolve(undefined);
        }
      });
      incoming.once('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      incoming.once('error', reject);
      incoming.once('close', () => reject(new Error('The request was broken off.')));
    });
  }

  onGone(listener: () => void): void {
    const { outgoing } = this;
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) listener();
    });
  }
}
