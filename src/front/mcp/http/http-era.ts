import type { Clock } from '../../../kernel/clock.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import { PlainAnswer, type Answer, type RequestHead } from '../../../net/http-message.js';
import type { McpFront } from '../front.js';
import type { HostSurface } from '../menu/host-surface.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** Through which endpoint a request comes, and who sent it. */
export interface Arrival {
  /** One server passed through; without it everything behind toolscout. */
  readonly server?: string;
  /** The authenticated subject. */
  readonly principal?: string;
  /** When its token expires, in milliseconds since 1970: a stream ends then. */
  readonly until?: number;
  /** The id of the request, unless its message belongs to a trace. */
  readonly traceId?: string;
}

/** What either era of the HTTP endpoint is made of. */
export interface HttpEraDeps {
  readonly front: McpFront;
  /** What a host that introduces itself so is offered: one server passed through, or everything. */
  readonly surfaceAt: (server: string | undefined, introduction: JsonObject) => Promise<HostSurface>;
  /** The same for a call alone, which does not ask what changed since: it may be shared. */
  readonly callSurfaceAt: (server: string | undefined, introduction: JsonObject) => HostSurface | Promise<HostSurface>;
  readonly log: Log;
  readonly clock: Clock;
  readonly report: (error: Error) => void;
}

/** Compares the headers of a modern request with its body; an answer is a refusal. */
export type HeaderCheck = (
  request: RequestHead,
  body: unknown,
  surface: () => HostSurface | Promise<HostSurface>,
) => Promise<Answer | undefined>;

/** A JSON-RPC error that answers one request, or none in particular. */
export function jsonRpcError(status: number, code: number, message: string, id: unknown = null): PlainAnswer {
  const type = { 'content-type': 'application/json' };
  const headers = status === 405 ? { ...type, allow: 'GET, POST, DELETE' } : type;
  return new PlainAnswer(status, headers, JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
}

/** The answer to a request in a session that does not exist, or that belongs to another caller. */
export function sessionGone(): PlainAnswer {
  return jsonRpcError(404, RPC_CODE.notFound, 'This session has ended; initialize again.');
}
