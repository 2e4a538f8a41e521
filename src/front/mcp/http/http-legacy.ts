import { isInitializeRequest } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Answer, RequestHead } from '../../../net/http-message.js';
import { isPlainHandshake } from '../sessions/handshake.js';
import { greet } from '../sessions/opening.js';
import { boundStream } from './bounded-stream.js';
import { methodNotFound } from '../exchange.js';
import type { BriefedHostTransport } from '../front.js';
import { jsonRpcError, sessionGone, type Arrival, type HttpEraDeps } from './http-era.js';
import { createMcpServer } from '../server.js';
import { LateAnswers, SessionTransport } from './session-transport.js';
import { isPlainLegacyNotification, isPlainLegacyRequest, RPC_CODE } from '../../../protocol/json-rpc.js';
import { HANDSHAKE_REVISIONS } from '../../../protocol/revisions.js';

/** Hosts of the 2025 era over HTTP: each has a session, so that servers can speak to it on their own account. */
export interface LegacySessions {
  readonly size: number;
  /** Whether something is answered or listened to in one of them. */
  readonly isBusy: boolean;
  /** Whether a request is of the 2025 era without a doubt; the era of all others is for the protocol to say. */
  owns(head: RequestHead, body: unknown): boolean;
  /** Answers a request; `body` is what was posted. */
  serve(head: RequestHead, body: unknown, arrival: Arrival): Answer | Promise<Answer>;
  /** Ends every session, with everything that is open in it. */
  close(): Promise<void>;
}

/** Sessions kept at once; beyond that one that is quiet is ended. */
const MAX_SESSIONS = 1000;

/** One session; the others of its endpoint are known to it. */
class Session extends SessionTransport {
  hostTransport: BriefedHostTransport | undefined;
  /** Streams on which its host listens. */
  followers = 0;

  constructor(
    private readonly sessions: Sessions,
    /** The endpoint and the subject it was opened with; it is of no use to any other (S5). */
    readonly endpoint: string,
    readonly principal: string,
  ) {
    super(sessions.late);
  }

  get isQuiet(): boolean {
    return this.followers === 0 && !this.isBusy;
  }

  protected override onOpen(id: string): void {
    this.sessions.add(id, this);
  }

  protected override onClose(id: string): void {
    this.sessions.byId.delete(id);
  }
}

/** The sessions of one endpoint. */
class Sessions {
  /** Most recently used last, so that the quiet one is the first to go. */
  readonly byId = new Map<string, Session>();
  readonly late: LateAnswers;
  private latest: Session | undefined;

  constructor(clock: Clock) {
    this.late = new LateAnswers(clock);
  }

  add(id: string, session: Session): void {
    this.latest = session;
    this.byId.set(id, session);
    if (this.byId.size > MAX_SESSIONS) this.makeRoom();
  }

  /** The session was used. */
  touch(id: string, session: Session): void {
    if (session === this.latest) return;
    this.byId.delete(id);
    this.byId.set(id, session);
    this.latest = session;
  }

  /** Ends the session that was quiet longest, if there is one that nobody listens in. */
  private makeRoom(): void {
    const all = [...this.byId.values()];
    const quiet = all.find(({ isQuiet }) => isQuiet) ?? all[0];
    void quiet?.close();
  }
}

/** Serves the hosts of one endpoint, each in its session. */
export function createLegacySessions(deps: HttpEraDeps): LegacySessions {
  const { front, surfaceAt, clock, report } = deps;
  const sessions = new Sessions(clock);

  const open = async (head: RequestHead, body: JsonObject, arrival: Arrival): Promise<Answer> => {
    const { server: endpoint = '', principal = 'local' } = arrival;
    const surface = await surfaceAt(arrival.server, isObject(body['params']) ? body['params'] : {});
    const session = new Session(sessions, endpoint, principal);
    const hostTransport = front.transportFor(session, { principal, surface });
    session.hostTransport = hostTransport;
    if (isPlainHandshake(body)) {
      hostTransport.onmessage = (message) => greet(hostTransport, message as unknown as JsonObject, report);
      hostTransport.onerror = report;
    } else {
      const server = createMcpServer(surface, ({ method }) => Promise.reject(methodNotFound(method)));
      server.onerror = report;
      await server.connect(hostTransport);
    }
    return session.take(head, body, arrival.traceId);
  };

  const goOn = (id: string, head: RequestHead, body: unknown, arrival: Arrival): Answer | Promise<Answer> => {
    const { server: endpoint = '', principal = 'local', until } = arrival;
    const session = sessions.byId.get(id);
    if (session?.endpoint !== endpoint || session.principal !== principal) return sessionGone();
    sessions.touch(id, session);
    if (head.method === 'POST') return session.take(head, body, arrival.traceId);
    if (head.method === 'DELETE') return session.remove(head);
    if (head.method !== 'GET') return jsonRpcError(405, RPC_CODE.serverError, 'Method not allowed.');
    const onBegin = (): (() => void) => {
      session.followers += 1;
      session.hostTransport?.startBriefing();
      return () => (session.followers -= 1);
    };
    const last = head.headers.get('last-event-id');
    const answer = last ? session.resume(head, last) : session.follow(head);
    return answer instanceof Response ? boundStream(answer, { clock, until, onBegin }) : answer;
  };

  return {
    get size() {
      return sessions.byId.size;
    },
    get isBusy() {
      return ![...sessions.byId.values()].every(({ isQuiet }) => isQuiet);
    },
    owns({ headers }, body) {
      const revision = headers.get('mcp-protocol-version');
      if (revision !== null && !HANDSHAKE_REVISIONS.includes(revision)) return false;
      return isPlainLegacyRequest(body) || isPlainLegacyNotification(body);
    },
    serve(head, body, arrival) {
      const id = head.headers.get('mcp-session-id');
      if (id !== null) return goOn(id, head, body, arrival);
      if (head.method !== 'POST')
        return jsonRpcError(405, RPC_CODE.serverError, 'Use POST, or GET with an Mcp-Session-Id.');
      if (isInitializeRequest(body)) return open(head, body as unknown as JsonObject, arrival);
      return jsonRpcError(
        400,
        RPC_CODE.serverError,
        'Initialize first, or send MCP-Protocol-Version 2026-07-28 with its headers.',
      );
    },
    async close() {
      await Promise.all([...sessions.byId.values()].map((session) => session.close()));
      sessions.late.stop();
    },
  };
}
