import { ProtocolError, Server, type ServerContext } from '@modelcontextprotocol/server';
import type { Gateway } from '../../gateway/index.js';
import type { Clock } from '../../kernel/clock.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { toRpcError } from './exchange.js';
import type { ModeChoice } from './menu/modes.js';
import type { HostSurface } from './menu/host-surface.js';

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
  readonly clock: Clock;
  /** Whether hosts of this front may administer toolscout; they may not by default. */
  readonly admin?: boolean;
  /** Replaces `mode` of the config; `hostModes` still applies. */
  readonly mode?: ModeChoice;
}

/** Answers a request that is not part of the handshake. */
export type Answer = (
  request: { readonly method: string; readonly params?: unknown },
  context: ServerContext,
) => Promise<JsonObject>;

/** One protocol server for one host connection (or one stateless request), which introduces a surface and asks `answer`. */
export function createMcpServer(surface: HostSurface, answer: Answer): Server {
  const { info, capabilities, instructions } = surface;
  const server = new Server({ ...info }, { capabilities, ...(instructions !== undefined && { instructions }) });
  // A registered handler would have its result parsed and fields unknown to the SDK stripped from it;
  // the fallback hands the result on as it is.
  server.removeRequestHandler('logging/setLevel');
  server.fallbackRequestHandler = async (request, context) => {
    try {
      return await answer(request, context as ServerContext);
    } catch (thrown) {
      const { code, message, data } = toRpcError(thrown);
      throw new ProtocolError(code, message, data);
    }
  };
  return server;
}
