import { ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import {
  ANSWER_QUESTION,
  canBeAsked,
  questionWithdrawn,
  tooManyQuestions,
  type Host,
  type HostRequest,
} from '../../../model/host.js';
import { isLoud } from './log-levels.js';
import { sharedHostId } from './host-id.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';

/** The id of a JSON-RPC request. */
export type RequestId = string | number;

/** Questions that may be open at one host. */
const MAX_ASKED = 64;

const CANCELLED = 'notifications/cancelled';

/** Writes to a host. */
export interface HostWriter {
  /** `related` is the request of the host that a message belongs to. */
  post(message: JsonObject, related?: RequestId): void;
}

interface Asked {
  readonly resolve: (result: JsonObject) => void;
  readonly reject: (error: ToolscoutError) => void;
}

/** What is known of a host when its session opens. */
export interface LegacySessionOptions {
  /** Names the session; unguessable. */
  readonly id: string;
  readonly principal: string;
  readonly capabilities: JsonObject;
  /** See {@link Host.revision}. */
  readonly revision?: string;
  readonly sole?: boolean;
  /** This process serves other hosts of the same user: see {@link Host.group}. */
  readonly isGrouped?: boolean;
  /** The number of the first question; 1 by default. */
  readonly firstQuestion?: number;
}

function refusal(error: unknown): ToolscoutError {
  const body = isObject(error) ? error : {};
  const code = typeof body['code'] === 'number' ? body['code'] : RPC_CODE.internalError;
  const message = typeof body['message'] === 'string' ? body['message'] : `error ${code}`;
  return new ToolscoutError('TOOL_EXECUTION_ERROR', message, {
    suggestion: ANSWER_QUESTION,
    upstream: { code, message, data: body['data'] },
  });
}

/** The host of a session, or the host as one of its requests sees it. */
class SessionHost implements Host {
  readonly era = 'legacy';

  constructor(
    private readonly of: LegacySession,
    private readonly related?: RequestId,
  ) {}

  get capabilities(): JsonObject {
    return this.of.options.capabilities;
  }

  get revision(): string | undefined {
    return this.of.options.revision;
  }

  get sole(): boolean {
    return this.of.options.sole === true;
  }

  get id(): string {
    return this.of.hostId;
  }

  get group(): string | undefined {
    return this.of.group;
  }

  get alike(): string | undefined {
    return this.of.alikeId;
  }

  get logLevel(): string | undefined {
    return this.of.logLevel;
  }

  get session(): Host | undefined {
    return this.id === this.of.options.id ? this.of.host : undefined;
  }

  request(method: string, params: JsonObject | undefined, given?: HostRequest): Promise<JsonObject> {
    return this.of.ask(method, params, given, this.related);
  }

  notify(method: string, params: JsonObject | undefined): void {
    this.of.tell(method, params, this.related);
  }
}

/** A connected 2025-era host: it can be told things and asked things at any time. */
export class LegacySession {
  readonly host: Host = new SessionHost(this);
  /** The lowest level of log messages that the host wants, once it has said so. */
  logLevel: string | undefined;
  /** Most hosts are never asked anything. */
  private asked: Map<number, Asked> | undefined;
  private next: number;
  private isClosed = false;
  private readonly isAskable: boolean;
  /** See {@link sharedHostId}; `level` is the log level that it was made for. */
  private alike: { readonly id: string; readonly level: string | undefined } | undefined;

  constructor(
    readonly options: LegacySessionOptions,
    private readonly writer: HostWriter,
  ) {
    this.next = options.firstQuestion ?? 1;
    this.isAskable = canBeAsked(options.capabilities);
  }

  /** See {@link Host.id}. A level that one host sets must not affect the log messages of others, so it no longer shares a connection. */
  get hostId(): string {
    return this.logLevel !== undefined || this.isAskable ? this.options.id : this.sharedId();
  }

  /** See {@link Host.group}. */
  get group(): string | undefined {
    return this.options.isGrouped && this.logLevel === undefined ? this.sharedId() : undefined;
  }

  /** See {@link Host.alike}. The only host of a process is like no other. */
  get alikeId(): string | undefined {
    return this.options.sole ? undefined : this.sharedId();
  }

  /** The host as one of its requests sees it. */
  hostOf(request: RequestId): Host {
    return new SessionHost(this, request);
  }

  /** Asks the host something, on behalf of one of its requests or of none. */
  ask(
    method: string,
    params: JsonObject | undefined,
    given: HostRequest | undefined,
    related: RequestId | undefined,
  ): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      const signal = given?.signal;
      const asked = (this.asked ??= new Map<number, Asked>());
      if (this.isClosed) return reject(new ToolscoutError('CANCELLED', 'The host has disconnected.'));
      if (signal?.aborted) return reject(questionWithdrawn());
      if (asked.size >= MAX_ASKED) return reject(tooManyQuestions(MAX_ASKED));
      const id = this.next++;
      const leave = (): void => {
        asked.delete(id);
        signal?.removeEventListener('abort', withdraw);
      };
      const withdraw = (): void => {
        leave();
        const withdrawn = { requestId: id, reason: 'no longer wanted' };
        this.writer.post({ jsonrpc: '2.0', method: CANCELLED, params: withdrawn }, related);
        reject(questionWithdrawn());
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
      this.writer.post({ jsonrpc: '2.0', id, method, ...(params && { params }) }, related);
    });
  }

  /** Tells the host something that needs no answer. */
  tell(method: string, params: JsonObject | undefined, related: RequestId | undefined): void {
    const { logLevel } = this;
    if (method === 'notifications/message' && logLevel !== undefined && !isLoud(params, logLevel)) return;
    this.writer.post({ jsonrpc: '2.0', method, ...(params && { params }) }, related);
  }

  /** Takes an answer of the host; `false` when it is to none of our questions. */
  answered(message: JsonObject): boolean {
    const waiting = typeof message['id'] === 'number' ? this.asked?.get(message['id']) : undefined;
    if (!waiting) return false;
    if (isObject(message['result'])) waiting.resolve(message['result']);
    else waiting.reject(refusal(message['error']));
    return true;
  }

  /** The host has gone: pending requests to it are rejected. */
  close(): void {
    this.isClosed = true;
    if (!this.asked?.size) return;
    const gone = new ToolscoutError('CANCELLED', 'The host disconnected.');
    for (const { reject } of this.asked.values()) reject(gone);
  }

  private sharedId(): string {
    const { logLevel: level } = this;
    if (this.alike?.level !== level || !this.alike) {
      this.alike = { id: sharedHostId(this.options.principal, this.options.capabilities, level), level };
    }
    return this.alike.id;
  }
}
