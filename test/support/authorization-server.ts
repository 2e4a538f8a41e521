import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpHandler, Server } from '@modelcontextprotocol/server';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createRemoteJWKSet, exportJWK, generateKeyPair, jwtVerify, type JWK } from 'jose';
import { Provider } from 'oidc-provider';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';

/** A request as an authorization server or a protected server saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly body: string;
  readonly authorization?: string;
}

/** A running HTTP server that remembers what it was asked. */
export interface Recorded {
  readonly origin: string;
  readonly seen: Seen[];
  close(): Promise<void>;
}

/** Serves on a free port of this machine until the test ends. */
export async function serveHttp(
  handle: (request: IncomingMessage, response: ServerResponse, seen: Seen, origin: string) => unknown,
): Promise<Recorded> {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    const entry = watchBody(request, {
      method: request.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      authorization: request.headers.authorization,
    });
    seen.push(entry);
    void handle(request, response, entry, origin);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.closeAllConnections();
      server.close(() => resolve());
    });
  onTestFinished(close);
  return { origin, seen, close };
}

/** Records the body of a request while its handler reads it. */
function watchBody(request: IncomingMessage, head: Omit<Seen, 'body' | 'form'>): Seen {
  const chunks: Buffer[] = [];
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk !== null) chunks.push(chunk);
    return push(chunk, encoding);
  };
  return {
    ...head,
    get body() {
      return Buffer.concat(chunks).toString('utf8');
    },
    get form() {
      return new URLSearchParams(this.body);
    },
  };
}

/** Waits for the whole body. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? undefined : (JSON.parse(text) as unknown);
}

/** Answers with JSON. */
export function json(
  response: ServerResponse,
  value: object,
  status = 200,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
}

const SCOPES = ['openid', 'offline_access', 'mcp:read', 'mcp:write', 'mcp:admin'];

/** How an authorization server behaves. */
export interface AuthorizationServerOptions {
  /** Seconds an access token lives. */
  readonly ttl?: number;
  /** Rewrites its metadata. */
  readonly metadata?: (metadata: JsonObject) => JsonObject;
  /** Clients that are known without registration. */
  readonly clients?: object[];
}

/** Keys of the tests before, which are used again: making one takes a good part of a second. */
const keys: Array<Promise<JWK>> = [];
let taken = 0;

/** A key that no other server of this test has. */
function nextKey(): Promise<JWK> {
  const place = taken++;
  onTestFinished(() => void taken--);
  return (keys[place] ??= makeKey());
}

async function makeKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: 'RS256', use: 'sig', kid: 'test' };
}

/**
 * A real authorization server: dynamic registration, resource indicators, rotation of refresh tokens, revocation. Every
 * visitor is signed in and consents.
 */
export async function startAuthorizationServer(options: AuthorizationServerOptions = {}): Promise<Recorded> {
  let provider: Provider | undefined;
  const server = await serveHttp(async (request, response, seen) => {
    if (!provider) return json(response, {}, 503);
    if (seen.path === '/interaction') return interact(provider, request, response);
    if (seen.path.startsWith('/.well-known/') && options.metadata) {
      return json(response, options.metadata(metadataOf(await capture(provider, request))));
    }
    return provider.callback()(request, response);
  });
  provider = new Provider(server.origin, {
    jwks: { keys: [await nextKey()] },
    cookies: { keys: ['a key for cookies'] },
    clients: options.clients ?? [],
    scopes: SCOPES,
    findAccount: (_context: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    interactions: { url: () => '/interaction' },
    adapter: createMemory(),
    ttl: {
      Interaction: 600,
      Session: 600,
      Grant: 86_400,
      IdToken: 600,
      AccessToken: options.ttl ?? 3600,
      ClientCredentials: options.ttl ?? 3600,
      RefreshToken: 86_400,
    },
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: true },
      revocation: { enabled: true, allowedPolicy: () => true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: unknown, resource: string) => ({
          scope: 'mcp:read mcp:write mcp:admin',
          audience: resource,
          accessTokenFormat: 'jwt',
          accessTokenTTL: options.ttl ?? 3600,
        }),
      },
    },
  });
  return server;
}

interface Kept extends Record<string, unknown> {
  readonly grantId?: string;
  readonly uid?: string;
  readonly exp?: number;
}

/** The memory of one provider, so that no two of them share any. */
function createMemory(): (model: string) => object {
  const all = new Map<string, Kept>();
  return (model) => ({
    upsert: async (id: string, kept: Kept) => void all.set(`${model}:${id}`, kept),
    find: async (id: string) => all.get(`${model}:${id}`),
    findByUid: async (uid: string) => [...all.values()].find((kept) => kept.uid === uid),
    findByUserCode: async () => undefined,
    consume: async (id: string) => void Object.assign(all.get(`${model}:${id}`) ?? {}, { consumed: 1 }),
    destroy: async (id: string) => void all.delete(`${model}:${id}`),
    revokeByGrantId: async (grantId: string) => {
      for (const [key, kept] of all) if (kept.grantId === grantId) all.delete(key);
    },
  });
}

/** What the provider answers to a request. */
async function capture(provider: Provider, request: IncomingMessage): Promise<string> {
  const inner = createServer(provider.callback());
  await new Promise<void>((resolve) => inner.listen(0, '127.0.0.1', resolve));
  const { port } = inner.address() as AddressInfo;
  const answer = await fetch(`http://127.0.0.1:${port}${request.url}`, {
    headers: { 'x-host': request.headers.host ?? '' },
  });
  const text = await answer.text();
  inner.closeAllConnections();
  inner.close();
  return text.replaceAll(`http://127.0.0.1:${port}`, `http://${request.headers.host}`);
}

const metadataOf = (text: string): JsonObject => JSON.parse(text) as JsonObject;

async function interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === 'login') {
    return provider.interactionFinished(request, response, { login: { accountId: 'somebody' } });
  }
  const grant = new provider.Grant({ accountId: 'somebody', clientId: params.client_id });
  const scope = params.scope ?? '';
  grant.addOIDCScope(scope);
  if (params.resource) grant.addResourceScope(params.resource, scope);
  return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
}

/** How a protected server behaves. */
export interface ProtectedServerOptions {
  /** Issuers whose tokens it accepts; it advertises the first. May change while it runs. */
  readonly issuers: () => string[];
  /** What its metadata calls it, from its URL; the URL itself by default. */
  readonly resource?: (url: string) => string;
  /** The scope that `tools/call` needs. */
  readonly callScope?: string;
  /** The last word on a token: `false` refuses one that would be good. */
  readonly accepts?: (token: string) => boolean;
  readonly scopes?: string[];
}

/** A protected server at `/mcp` that checks signature, issuer and audience of every token. */
export async function startProtectedServer(
  options: ProtectedServerOptions,
): Promise<Recorded & { readonly url: string; readonly tokens: string[] }> {
  const tokens: string[] = [];
  const build = (): Server => {
    const server = new Server({ name: 'protected', version: '1.0.0' }, { capabilities: { tools: {} } });
    const inputSchema = { type: 'object' as const, properties: { text: { type: 'string' } } };
    server.setRequestHandler('tools/list', () => ({
      tools: [{ name: 'echo', description: 'Says it back.', inputSchema }],
    }));
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: String(params.arguments?.['text'] ?? 'nothing') }],
    }));
    return server;
  };
  const handler = toNodeHandler(createMcpHandler(build, { legacy: 'stateless' }));
  const keys = new Map<string, ReturnType<typeof createRemoteJWKSet>>();
  const keysOf = (issuer: string): ReturnType<typeof createRemoteJWKSet> => {
    const known = keys.get(issuer) ?? createRemoteJWKSet(new URL(`${issuer}/jwks`));
    keys.set(issuer, known);
    return known;
  };

  const check = async (token: string, audience: string): Promise<string[] | undefined> => {
    if (options.accepts?.(token) === false) return undefined;
    for (const issuer of options.issuers()) {
      try {
        const { payload } = await jwtVerify(token, keysOf(issuer), { issuer, audience });
        return String(payload['scope'] ?? '').split(' ');
      } catch {
        // Not a token of this issuer; perhaps of the next.
        continue;
      }
    }
    return undefined;
  };

  const server = await serveHttp(async (request, response, seen, origin) => {
    const url = `${origin}/mcp`;
    const resource = options.resource?.(url) ?? url;
    const about = `${origin}/.well-known/oauth-protected-resource/mcp`;
    if (seen.path === '/.well-known/oauth-protected-resource/mcp') {
      const scopes = options.scopes ?? ['mcp:read'];
      return json(response, {
        resource,
        authorization_servers: options.issuers().slice(0, 1),
        scopes_supported: scopes,
      });
    }
    if (seen.path !== '/mcp') return json(response, {}, 404);
    const body = await readJson(request);
    const token = /^Bearer (.+)$/.exec(seen.authorization ?? '')?.[1];
    if (token !== undefined) tokens.push(token);
    const granted = token === undefined ? undefined : await check(token, resource);
    if (!granted) return json(response, {}, 401, { 'www-authenticate': `Bearer resource_metadata="${about}"` });
    // A server that repeats what it was sent: in an error of HTTP, and in one of the protocol.
    if (seen.body.includes('please leak')) return json(response, { message: `bad token ${token}` }, 500);
    if (seen.body.includes('please tell')) {
      const { id } = body as { id: number };
      return json(response, { jsonrpc: '2.0', id, error: { code: -32000, message: `bad token ${token}` } });
    }
    const needed = seen.body.includes('"tools/call"') ? options.callScope : undefined;
    if (needed !== undefined && !granted.includes(needed)) {
      const challenge = `Bearer error="insufficient_scope", scope="${needed}", resource_metadata="${about}"`;
      return json(response, {}, 403, { 'www-authenticate': challenge });
    }
    return handler(request, response, body);
  });
  return { ...server, url: `${server.origin}/mcp`, tokens };
}

/** A browser without a person: follows redirects and keeps cookies; answers the last address and page. */
export async function browse(start: string): Promise<{ readonly url: string; readonly text: string }> {
  const jar = new Map<string, string>();
  let url = start;
  for (let steps = 0; steps < 20; steps++) {
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: cookie === '' ? {} : { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location === null) return { url, text: await response.text() };
    await response.body?.cancel();
    url = new URL(location, url).href;
  }
  throw new Error(`too many redirects from ${start}`);
}

/** The address a browser would end at, without anybody listening there. */
export async function lastAddress(start: string): Promise<string> {
  const redirect = new URL(start).searchParams.get('redirect_uri')!;
  const jar = new Map<string, string>();
  for (let url = start, steps = 0; steps < 10; steps++) {
    if (url.startsWith(redirect)) return url;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
    for (const line of response.headers.getSetCookie()) jar.set(line.split('=')[0]!, /=([^;]*)/.exec(line)![1]!);
    await response.body?.cancel();
    url = new URL(response.headers.get('location') ?? '', url).href;
  }
  throw new Error('the sign-in did not come back');
}
