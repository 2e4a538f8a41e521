import type { Clock } from '../../../kernel/clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import type { McpFront } from '../front.js';
import type { HostSurface } from '../menu/host-surface.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Through which endpoint a request comes, and who sent it. */
export interface Arrival {
  /** One server passed through; without it everything behind toolscout. */
  readonly server?: string;
  /** The authenticated subject. */
  readonly principal?: string;
  /** When its token expires, in milliseconds since 1970: whoever only listens is not served beyond that. */
  readonly until?: number;
  /** The id of the request, unless its message belongs to a trace. */
  readonly traceId?: string;
}

/** What either era of the HTTP endpoint is made of. */
export interface HttpEraDeps {
  readonly front: McpFront;
  /** What a host that introduces itself so is offered: one server passed through, or everything. */
  readonly surfaceAt: (server: string | undefined, introduction: JsonObject) => Promise<HostSurface>;
  readonly log: Log;
  readonly clock: Clock;
  readonly report: (error: Error) => void;
}

/** A JSON-RPC error that answers one request, or none in particular. */
export function jsonRpcError(status: number, code: number, message: string, id: unknown = null): Response {
  const headers = status === 405 ? { allow: 'GET, POST, DELETE' } : undefined;
  return Response.json({ jsonrpc: '2.0', id, error: { code, message } }, { status, headers });
}

/** What whoever speaks in a session that is not, or not theirs, is told. */
export function sessionGone(): Response {
  return jsonRpcError(404, RPC_CODE.notFound, 'This session has ended; initialize again.');
}
