import { ProtocolError, ProtocolErrorCode, Server, type Tool } from '@modelcontextprotocol/server';
import type { Gateway } from '../../gateway/index.js';
import { messageOf } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import { ADMIN_TOOLS } from './admin-tools.js';
import { answerCall } from './meta-call.js';
import { instructionsFor, META_TOOLS } from './meta-tools.js';

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
  /** Whether hosts of this front may administer toolscout; they may not by default. */
  readonly admin?: boolean;
}

/** How long a host may keep our menu: it changes only with a new version. */
const MENU_TTL_MS = 3_600_000;

/** One protocol server for one host connection (or one stateless request), over the shared gateway. */
export function createMcpServer({ gateway, info, log, admin = false }: FrontDeps): Server {
  const server = new Server(
    { name: info.name, version: info.version },
    {
      capabilities: { tools: {} },
      instructions: instructionsFor(gateway.coverage()),
      cacheHints: { 'tools/list': { ttlMs: MENU_TTL_MS, cacheScope: admin ? 'private' : 'public' } },
    },
  );
  const menu = admin ? [...META_TOOLS, ...ADMIN_TOOLS] : META_TOOLS;
  server.setRequestHandler('tools/list', () => ({ tools: menu as unknown as Tool[] }));

  // A registered tools/call handler would have its result parsed and fields unknown to the SDK
  // stripped from content items; the fallback hands the upstream's result on as it is.
  server.fallbackRequestHandler = async (request, { mcpReq }) => {
    if (request.method !== 'tools/call') {
      throw new ProtocolError(ProtocolErrorCode.MethodNotFound, `Method not found: ${request.method}`);
    }
    return answerCall(gateway, request.params, {
      admin,
      signal: mcpReq.signal,
      notifyProgress: (params) => {
        mcpReq
          .notify({ method: 'notifications/progress', params: params as never })
          .catch((thrown: unknown) => log.debug('mcp.progress-lost', { error: messageOf(thrown) }));
      },
    });
  };
  return server;
}
