import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import type { Screen } from '../../model/host.js';
import type { Server } from '../../model/server.js';
import type { Upstream, UpstreamRequest } from '../../model/upstream.js';
import type { NegotiatedSession } from '../era/session.js';
import { eraChanged } from './errors.js';
import type { Requests } from './requests.js';
import { answerInRounds } from './rounds.js';

/** How long a connection whose verdict is in doubt has to prove it. */
const PROOF_MS = 1500;

/** An established connection, before it is an {@link Upstream}. */
export interface Connection {
  readonly session: NegotiatedSession;
  readonly requests: Requests;
  readonly pid?: number;
  /** Ends the connection in good order; resolves when nothing of it is left. */
  close(): Promise<void>;
}

/** What an upstream needs besides its connection. */
export interface UpstreamOptions {
  readonly server: Server;
  readonly clock: Clock;
  readonly log: Log;
  /** What rules take out of questions and answers, as they are now. */
  readonly screen?: () => Screen | undefined;
  /** See {@link Upstream.isDual}. */
  readonly isDual?: boolean;
  /**
   * Given when a remembered verdict was believed without asking: called once when the server turns
   * out to be of the other era after all, so that it is not believed again.
   */
  readonly onMisjudged?: () => Promise<void>;
}

/** The port to one live server, over a connection that is established. */
export function createUpstream(connection: Connection, options: UpstreamOptions): Upstream {
  const { session, requests } = connection;
  const { server, clock, log, screen } = options;
  const { era, info, instructions } = session;
  const pingMethod = era === 'modern' ? 'server/discover' : 'ping';
  let doubted = options.onMisjudged;

  const send = (method: string, params: JsonObject | undefined, given: UpstreamRequest): Promise<JsonObject> =>
    requests.request(method, params, isTimed(given) ? given : { ...given, timeoutMs: server.timeoutMs });

  const misjudged = async (error: ToolscoutError): Promise<never> => {
    const forget = doubted;
    doubted = undefined;
    log.info('connect.misjudged', { server: server.id, era, why: error.message });
    await forget?.();
    throw error;
  };

  /** The first answer on a connection that was believed to be modern is an error: is it modern at all? */
  const prove = async (error: ToolscoutError): Promise<never> => {
    // Not reached at all, it has said nothing about its era; one that died of the question has.
    if (requests.closed && error.delivered === false) throw error;
    if (requests.closed) return misjudged(error);
    if (error.code === 'TOOL_EXECUTION_TIMEOUT') {
      requests.fail(error);
      return misjudged(error);
    }
    if (error.code !== 'TOOL_EXECUTION_ERROR' && error.code !== 'SERVER_CONNECTION_ERROR') throw error;
    try {
      await requests.request('server/discover', undefined, { timeoutMs: PROOF_MS });
      doubted = undefined;
    } catch {
      // It does not speak this era: it refused the request unread, so it may be sent again.
      const gone = eraChanged(server.id, error);
      requests.fail(gone);
      return misjudged(gone);
    }
    throw error;
  };

  const tryOut = async (
    method: string,
    params: JsonObject | undefined,
    given: UpstreamRequest,
  ): Promise<JsonObject> => {
    let result: JsonObject;
    try {
      result = await send(method, params, given);
    } catch (thrown) {
      if (doubted && thrown instanceof ToolscoutError) return prove(thrown);
      throw thrown;
    }
    doubted = undefined;
    return result;
  };

  const ask = (method: string, params: JsonObject | undefined, given: UpstreamRequest): Promise<JsonObject> =>
    doubted ? tryOut(method, params, given) : send(method, params, given);

  const request = (method: string, params: JsonObject | undefined, given: UpstreamRequest): Promise<JsonObject> => {
    if (era === 'legacy') return ask(method, params, given);
    return ask(method, params, given).then((result) => {
      if (result['resultType'] !== 'input_required') return result;
      const { host, signal, deadline, onAsking } = given;
      const round = (next: JsonObject | undefined): Promise<JsonObject> => ask(method, next, given);
      const terms = { server: server.id, clock, host, signal, deadline, onAsking, screen };
      return answerInRounds(result, round, params, terms);
    });
  };

  if (era === 'modern') {
    void subscribe(session, server, log);
  }

  return {
    server: server.id,
    era,
    ...(options.isDual !== undefined && { isDual: options.isDual }),
    protocolVersion: session.protocolVersion,
    info: { ...info, name: String(info?.['name'] ?? server.id), version: String(info?.['version'] ?? '') },
    capabilities: session.capabilities,
    ...(instructions !== undefined && { instructions }),
    ...(connection.pid !== undefined && { pid: connection.pid }),
    get closed() {
      return requests.closed;
    },
    request: (method, params, given = {}) => request(method, params, given),
    awaitedBy: (host) => requests.awaitedBy(host),
    tell: (method, params) => requests.tell(method, params),
    ...(era === 'modern' && { watch: (uri: string) => watch(session, server, uri) }),
    async ping(timeoutMs) {
      try {
        await request(pingMethod, undefined, { timeoutMs });
      } catch (thrown) {
        // Any answer is a sign of life, "method not found" too.
        if (!(thrown instanceof ToolscoutError) || thrown.upstream === undefined) throw thrown;
      }
    },
    onNotification: (listener) => requests.notifications.on(listener),
    onClose(listener) {
      if (requests.closed) {
        let wanted = true;
        queueMicrotask(() => wanted && listener(requests.reason));
        return () => (wanted = false);
      }
      const off = requests.ended.on((reason) => {
        off();
        listener(reason);
      });
      return off;
    },
    close: () => connection.close(),
  };
}

function isTimed(given: UpstreamRequest): given is UpstreamRequest & { readonly timeoutMs: number } {
  return given.timeoutMs !== undefined;
}

/** On modern connections, changes of lists are sent only to subscribers. */
async function subscribe({ capabilities, listen }: NegotiatedSession, server: Server, log: Log): Promise<void> {
  const announces = (kind: string): boolean => {
    const offered = capabilities[kind];
    return isObject(offered) && offered['listChanged'] === true;
  };
  const filter = {
    ...(announces('tools') && { toolsListChanged: true }),
    ...(announces('prompts') && { promptsListChanged: true }),
    ...(announces('resources') && { resourcesListChanged: true }),
  };
  if (Object.keys(filter).length === 0) return;
  try {
    await listen(filter, server.timeoutMs);
  } catch (thrown) {
    // Without it changes are seen at the next refresh, no worse than with a server that cannot announce them.
    log.debug('connect.listen', { server: server.id, why: messageOf(thrown) });
  }
}

/** On modern connections, updates of a resource are sent only to subscribers of exactly that resource. */
async function watch({ listen }: NegotiatedSession, server: Server, uri: string): Promise<() => Promise<void>> {
  const listening = await listen({ resourceSubscriptions: [uri] }, server.timeoutMs);
  return () => listening.close();
}
