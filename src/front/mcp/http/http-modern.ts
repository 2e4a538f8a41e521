import { createMcpHandler } from '@modelcontextprotocol/server';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { boundStream } from './bounded-stream.js';
import { TRACE_HEADER } from '../exchange.js';
import type { ListKind } from '../front.js';
import { createHeaderCheck, refuseUnknownMethod, type Arrival, type HttpEraDeps } from './request-checks.js';
import { introductionIn } from '../sessions/introduction.js';
import { createMcpServer } from '../server.js';
import { watchFor } from '../sessions/watching.js';

/** Hosts of the 2026-07-28 revision over HTTP: no session, every request stands for itself. */
export interface ModernRequests {
  /** Whether something is being answered, or somebody listens. */
  readonly isBusy: boolean;
  fetch(request: Request, body: unknown, arrival: Arrival): Promise<Response>;
  /** Ends what is being answered, and everybody who listens. */
  close(): Promise<void>;
}

interface Door {
  readonly handler: ReturnType<typeof createMcpHandler>;
  close(): Promise<void>;
}

/** What a request brings along for whoever answers it. */
interface Brought {
  readonly principal: string;
  readonly introduction: JsonObject;
  readonly traceId?: string;
}

/** Answers requests of the modern era, a door for everything and one for each server passed through. */
export function createModernRequests(deps: HttpEraDeps): ModernRequests {
  const { front, offerAt, log, clock } = deps;
  const doors = new Map<string, Door>();
  const brought = new WeakMap<Request, Brought>();
  const refuseMismatch = createHeaderCheck();
  let open = 0;
  const enter = (): (() => void) => {
    open += 1;
    return () => (open -= 1);
  };

  const openDoor = (server: string | undefined): Door => {
    const handler = createMcpHandler(
      async ({ requestInfo }) => {
        const { principal, introduction, traceId } = brought.get(requestInfo!)!;
        const offer = await offerAt(server, introduction);
        return createMcpServer(offer, (request, context) =>
          front.modern.answer(offer, request, context, { principal, traceId }),
        );
      },
      { legacy: 'reject', onerror: deps.report },
    );
    const announce: Record<ListKind, () => void> = {
      tools: () => handler.notify.toolsChanged(),
      resources: () => handler.notify.resourcesChanged(),
      prompts: () => handler.notify.promptsChanged(),
    };
    // Who listens here is offered one of several things; whether a change matters to them is theirs to see.
    const concerns = (changed: string | undefined): boolean =>
      server === undefined || changed === undefined || changed === server;
    const unlisten = front.listen({
      offer: { concerns, skills: server === undefined },
      changed: (kind) => announce[kind](),
    });
    return {
      handler,
      async close() {
        unlisten();
        await handler.close();
      },
    };
  };

  const doorOf = (server: string | undefined): Door => {
    const name = server ?? '';
    const door = doors.get(name) ?? openDoor(server);
    doors.set(name, door);
    return door;
  };

  /** Serves a host that listens, and has what it listens for watched as long as it does. */
  const serveListener = async (request: Request, body: JsonObject, arrival: Arrival): Promise<Response> => {
    const { handler } = doorOf(arrival.server);
    const offer = await offerAt(arrival.server, introductionIn(body));
    const params = isObject(body['params']) ? body['params'] : {};
    const onUpdate = (uri: string): void => handler.notify.resourceUpdated(uri);
    const host = front.modern.listener(params['_meta'], { principal: arrival.principal ?? 'local' });
    return boundStream(await handler.fetch(request, { parsedBody: body }), {
      clock,
      until: arrival.until,
      // Not before: for whoever is refused no server is asked anything.
      onBegin() {
        const stop = watchFor(offer, params, { host, log, onUpdate });
        const leave = enter();
        return () => {
          stop();
          leave();
        };
      },
    });
  };

  const serveCall = async (request: Request, body: unknown, arrival: Arrival): Promise<Response> => {
    const leave = enter();
    try {
      // A call that said something before its answer is a stream.
      const response = await doorOf(arrival.server).handler.fetch(request, { parsedBody: body });
      return boundStream(response, { clock, onBegin: enter });
    } finally {
      leave();
    }
  };

  return {
    get isBusy() {
      return open > 0;
    },
    async fetch(request, body, arrival) {
      const introduction = introductionIn(body);
      const refusal =
        refuseUnknownMethod(request, body) ??
        (await refuseMismatch(request, body, () => offerAt(arrival.server, introduction)));
      if (refusal) return refusal;
      const traceId = request.headers.get(TRACE_HEADER) ?? undefined;
      brought.set(request, { principal: arrival.principal ?? 'local', introduction, traceId });
      if (isObject(body) && body['method'] === 'subscriptions/listen') return serveListener(request, body, arrival);
      return serveCall(request, body, arrival);
    },
    async close() {
      await Promise.all([...doors.values()].map((door) => door.close()));
    },
  };
}
