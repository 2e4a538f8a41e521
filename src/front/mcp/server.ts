import { ProtocolError, ProtocolErrorCode, Server, type ServerContext, type Tool } from '@modelcontextprotocol/server';
import { messageOf } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { Gateway } from '../../gateway/index.js';
import type { Progress } from '../../model/call.js';
import { callMetaTool, instructionsFor, META_TOOLS } from './meta-tools.js';

/** How toolscout names itself to hosts. */
export interface FrontInfo {
  readonly name: string;
  readonly version: string;
}

/** What every MCP front needs. */
export interface FrontDeps {
  readonly gateway: Gateway;
  readonly info: FrontInfo;
  readonly log: Log;
}

/** How long a host may keep our menu: it changes only with a new version. */
const MENU_TTL_MS = 3_600_000;

/** Passes a server's progress on under the token of this host's request. */
function progressOf(ctx: ServerContext, log: Log): ((progress: Progress) => void) | undefined {
  const progressToken = ctx.mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (progress) => {
    ctx.mcpReq
      .notify({ method: 'notifications/progress', params: { ...progress, progressToken } })
      .catch((thrown: unknown) => log.debug('mcp.progress-lost', { error: messageOf(thrown) }));
  };
}

/** `_meta` that belongs to the caller (trace context, vendor keys), without what belongs to this hop. */
function callerMeta(meta: unknown): JsonObject | undefined {
  if (!isObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(
    ([key]) => key !== 'progressToken' && !key.startsWith('io.modelcontextprotocol/'),
  );
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}

/** One protocol server for one host connection (or one stateless request), over the shared gateway. */
export function createMcpServer({ gateway, info, log }: FrontDeps): Server {
  const server = new Server(
    { name: info.name, version: info.version },
    {
      capabilities: { tools: {} },
      instructions: instructionsFor(gateway.coverage()),
      cacheHints: { 'tools/list': { ttlMs: MENU_TTL_MS, cacheScope: 'public' } },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: META_TOOLS as unknown as Tool[] }));

  // A registered tools/call handler would have its result parsed and fields unknown to the SDK
  // stripped from content items; the fallback hands the upstream's result on as it is.
  server.fallbackRequestHandler = async (request, ctx) => {
    if (request.method !== 'tools/call') {
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Method not found: ${request.method}`);
    }
    const params: unknown = request.params;
    const name = isObject(params) ? params['name'] : undefined;
    const args = isObject(params) ? params['arguments'] : undefined;
    return callMetaTool(gateway, typeof name === 'string' ? name : '', isObject(args) ? args : {}, {
      route: 'mcp',
      signal: ctx.mcpReq.signal,
      onProgress: progressOf(ctx, log),
      meta: callerMeta(isObject(params) ? params['_meta'] : undefined),
    });
  };
  return server;
}
