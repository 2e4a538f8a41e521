import { ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { canBeAsked, type Host, type HostRequest } from '../../../model/host.js';
import { isLoud } from './log-levels.js';
import { sharedHostId } from './host-id.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** Questions that may be open at one host. */
const MAX_ASKED = 64;

const CANCELLED = 'notifications/cancelled';

/** Writes to a host; `related` is the request of the host that a message belongs to. */
export type Post = (message: JsonObject, related?: RequestId) => void;

interface Asked {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: ToolscoutError) => void;
}

/** A connected 2025-era host: it can be told things and asked things at any time. */
export interface LegacySession {
  readonly host: Host;
  /** The host as one of its requests sees it. */
  hostOf(request: RequestId): Host;
  setLogLevel(level: string): void;
  /** Takes an answer of the host; `false` when it is to none of our questions. */
  answered(message: JsonObject): boolean;
  /** The host has gone: whoever waits for it is told. */
  close(): void;
}

function refusal(error: unknown): ToolscoutError {
  const body = isObject(error) ? error : {};
  const code = typeof body['code'] === 'number' ? body['code'] : RPC_CODE.internalError;
  const message = typeof body['message'] === 'string' ? body['message'] : `error ${code}`;
  return new ToolscoutError('TOOL_EXECUTION_ERROR', message, { upstream: { code, message, data: body['data'] } });
}

/** A session over `post`; `id` is unguessable and names it. */
export function createLegacySession(options: {
  readonly id: string;
  readonly principal: string;
  readonly capabilities: JsonObject;
  readonly sole?: boolean;
  /** This process serves other hosts of the same user: see {@link Host.group}. */
  readonly isGrouped?: boolean;
  /** The number of the first question; 1 by default. */
  readonly firstQuestion?: number;
  readonly post: Post;
}): LegacySession {
  const { capabilities, post } = options;
  const asked = new Map<number, Asked>();
  const alike = sharedHostId(options.principal, capabilities);
  const shared = canBeAsked(capabilities) ? undefined : alike;
  let next = options.firstQuestion ?? 1;
  let logLevel: string | undefined;
  let closed = false;

  const ask = (
    method: string,
    params: JsonObject | undefined,
    given: HostRequest | undefined,
    related?: RequestId,
  ): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      const signal = given?.signal;
      if (closed || signal?.aborted || asked.size >= MAX_ASKED) {
        return reject(new ToolscoutError('CANCELLED', 'The host disconnected before it answered.'));
      }
      const id = next++;
      const leave = (): void => {
        asked.delete(id);
        signal?.removeEventListener('abort', withdraw);
      };
      const withdraw = (): void => {
        leave();
        post({ jsonrpc: '2.0', method: CANCELLED, params: { requestId: id, reason: 'no longer wanted' } }, related);
        reject(new ToolscoutError('CANCELLED', 'The question was withdrawn.'));
      };
      asked.set(id, {
        resolve(result) {
          leave();
          resolve(result);
        },
        reject(error) {
          leave();
          reject(error);
        },
      });
      signal?.addEventListener('abort', withdraw, { once: true });
      post({ jsonrpc: '2.0', id, method, ...(params && { params }) }, related);
    });

  const tell = (method: string, params: JsonObject | undefined, related?: RequestId): void => {
    if (method === 'notifications/message' && logLevel !== undefined && !isLoud(params, logLevel)) return;
    post({ jsonrpc: '2.0', method, ...(params && { params }) }, related);
  };

  class SessionHost implements Host {
    readonly era = 'legacy';
    readonly capabilities = capabilities;
    readonly sole = options.sole === true;
    constructor(private readonly related?: RequestId) {}
    // A level that one host sets must not change what others hear, so it no longer shares a connection.
    get id(): string {
      return shared === undefined || logLevel !== undefined ? options.id : shared;
    }
    get group(): string | undefined {
      return options.isGrouped && logLevel === undefined ? alike : undefined;
    }
    get logLevel(): string | undefined {
      return logLevel;
    }
    get session(): Host | undefined {
      return this.id === options.id ? host : undefined;
    }
    request(method: string, params: JsonObject | undefined, given?: HostRequest): Promise<JsonObject> {
      return ask(method, params, given, this.related);
    }
    notify(method: string, params: JsonObject | undefined): void {
      tell(method, params, this.related);
    }
  }
  const host = new SessionHost();

  return {
    host,
    hostOf: (request) => new SessionHost(request),
    setLogLevel(level) {
      logLevel = level;
    },
    answered(message) {
      const waiting = typeof message['id'] === 'number' ? asked.get(message['id']) : undefined;
      if (!waiting) return false;
      if (isObject(message['result'])) waiting.resolve(message['result']);
      else waiting.reject(refusal(message['error']));
      return true;
    },
    close() {
      closed = true;
      const gone = new ToolscoutError('CANCELLED', 'The host has gone.');
      for (const { reject } of asked.values()) reject(gone);
    },
  };
}
