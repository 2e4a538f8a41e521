import { isInitializeRequest } from '@modelcontextprotocol/server';
import { newId } from '../../../kernel/ids.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Answer, RequestHead } from '../../../net/http-message.js';
import { isPlainHandshake } from '../sessions/handshake.js';
import { createGreeting } from '../sessions/opening.js';
import { boundStream } from './bounded-stream.js';
import { methodNotFound } from '../exchange.js';
import type { BriefedHostTransport } from '../front.js';
import { jsonRpcError, sessionGone, type Arrival, type HttpEraDeps } from './http-era.js';
import { createMcpServer } from '../server.js';
import { SessionTransport } from './session-transport.js';
import { isPlainLegacyRequest, RPC_CODE } from '../../../protocol/json-rpc.js';
import { HANDSHAKE_REVISIONS } from '../../../protocol/revisions.js';

/** Hosts of the 2025 era over HTTP: each has a session, so that servers can speak to it on their own account. */
export interface LegacySessions {
  readonly size: number;
  /** Whether something is answered or listened to in one of them. */
  readonly isBusy: boolean;
  /** Whether a request belongs to a session without a doubt; the era of all others is for the protocol to say. */
  owns(head: RequestHead, body: unknown): boolean;
  /** Answers a request; `body` is what was posted. */
  serve(head: RequestHead, body: unknown, arrival: Arrival): Answer | Promise<Answer>;
  /** Ends every session, with everything that is open in it. */
  close(): Promise<void>;
}

/** Sessions kept at once; beyond that one that is quiet is ended. */
const MAX_SESSIONS = 1000;

interface Session {
  readonly transport: SessionTransport;
  readonly hostTransport: BriefedHostTransport;
  /** The endpoint and the subject it was opened with; it is of no use to any other (S5). */
  readonly endpoint: string;
  readonly principal: string;
  /** Streams on which its host listens. */
  followers: number;
}

const isQuiet = ({ transport, followers }: Session): boolean => followers === 0 && !transport.isBusy;

/** The sessions of one endpoint. */
export function createLegacySessions(deps: HttpEraDeps): LegacySessions {
  const { front, surfaceAt, clock, report } = deps;
  const sessions = new Map<string, Session>();

  /** Ends the session that was quiet longest, if there is one that nobody listens in. */
  const makeRoom = (): void => {
    if (sessions.size <= MAX_SESSIONS) return;
    const all = [...sessions.values()];
    const quiet = all.find(isQuiet) ?? all[0];
    void quiet?.transport.close();
  };

  const open = async (head: RequestHead, body: JsonObject, arrival: Arrival): Promise<Answer> => {
    const { server: endpoint = '', principal = 'local' } = arrival;
    const surface = await surfaceAt(arrival.server, isObject(body['params']) ? body['params'] : {});
    const transport = new SessionTransport({
      clock,
      onOpen(id) {
        sessions.set(id, { transport, hostTransport, endpoint, principal, followers: 0 });
        makeRoom();
      },
      onClose: (id) => sessions.delete(id),
    });
    const hostTransport: BriefedHostTransport = front.transportFor(transport, {
      principal,
      sessionId: () => transport.sessionId ?? newId(),
      surface: () => surface,
      onEnded: (id, isCancelled) => isCancelled && transport.cancel(id),
    });
    if (isPlainHandshake(body)) {
      const greet = createGreeting(hostTransport, report);
      hostTransport.onmessage = (message) => greet(message as unknown as JsonObject);
      hostTransport.onerror = report;
    } else {
      const server = createMcpServer(surface, ({ method }) => Promise.reject(methodNotFound(method)));
      server.onerror = report;
      await server.connect(hostTransport);
    }
    return transport.take(head, body, arrival.traceId);
  };

  const goOn = (id: string, head: RequestHead, body: unknown, arrival: Arrival): Answer | Promise<Answer> => {
    const { server: endpoint = '', principal = 'local', until } = arrival;
    const session = sessions.get(id);
    if (session?.endpoint !== endpoint || session.principal !== principal) return sessionGone();
    // Most recently used last, so that the quiet one is the first to go.
    sessions.delete(id);
    sessions.set(id, session);
    const { transport } = session;
    if (head.method === 'POST') return transport.take(head, body, arrival.traceId);
    if (head.method === 'DELETE') return transport.remove(head);
    if (head.method !== 'GET') return jsonRpcError(405, RPC_CODE.serverError, 'Method not allowed.');
    const onBegin = (): (() => void) => {
      session.followers += 1;
      session.hostTransport.startBriefing();
      return () => (session.followers -= 1);
    };
    const last = head.headers.get('last-event-id');
    const answer = last ? transport.resume(head, last) : transport.follow(head);
    return answer instanceof Response ? boundStream(answer, { clock, until, onBegin }) : answer;
  };

  return {
    get size() {
      return sessions.size;
    },
    get isBusy() {
      return ![...sessions.values()].every(isQuiet);
    },
    owns({ headers }, body) {
      if (!headers.has('mcp-session-id')) return false;
      const revision = headers.get('mcp-protocol-version');
      return (revision === null || HANDSHAKE_REVISIONS.includes(revision)) && isPlainLegacyRequest(body);
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
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}
