import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';

/** A registry on this machine that speaks the official read API. */
export interface TestRegistry {
  readonly url: string;
  /** Every request that came, path and query. */
  readonly asked: string[];
  /** What answers instead of the registry; `undefined` lets it answer itself. */
  misbehave: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

/** The official part of an entry. */
const OFFICIAL = 'io.modelcontextprotocol.registry/official';

/** One entry as a registry lists it. */
export function registryEntry(server: JsonObject, official: JsonObject = {}): JsonObject {
  return { server, _meta: { [OFFICIAL]: { status: 'active', isLatest: true, ...official } } };
}

/** Starts a registry over these entries, `pageSize` to a page; it ends with the test. */
export async function startRegistry(entries: readonly JsonObject[], pageSize = 2): Promise<TestRegistry> {
  const asked: string[] = [];
  const registry: { -readonly [K in keyof TestRegistry]: TestRegistry[K] } = { url: '', asked, misbehave: undefined };
  const nameOf = (entry: JsonObject): string => String((entry['server'] as JsonObject)['name']);
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    asked.push(request.url ?? '');
    if (registry.misbehave?.(request, response)) return;
    const url = new URL(request.url ?? '/', 'http://registry');
    const send = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const one = /^\/v0\.1\/servers\/([^/]+)\/versions\/latest$/.exec(url.pathname);
    if (one) {
      const found = entries.find((entry) => nameOf(entry) === decodeURIComponent(one[1]!));
      return found ? send(200, found) : send(404, { title: 'Not Found' });
    }
    if (url.pathname !== '/v0.1/servers') return send(404, { title: 'Not Found' });
    const wanted = (url.searchParams.get('search') ?? '').toLowerCase();
    const matching = entries.filter((entry) => nameOf(entry).toLowerCase().includes(wanted));
    const from = Number(url.searchParams.get('cursor') ?? 0);
    const servers = matching.slice(from, from + pageSize);
    const next = from + pageSize;
    send(200, {
      servers,
      metadata: { count: servers.length, ...(next < matching.length ? { nextCursor: String(next) } : {}) },
    });
  };
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  registry.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return registry;
}
