import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../kernel/errors.js';
import { newId } from '../../kernel/ids.js';
import { isObject } from '../../kernel/json.js';
import { createFront, listChanged } from './front.js';
import type { RequestId } from './legacy-session.js';
import { createMcpServer, type FrontDeps } from './server.js';
import { createServerOffer } from './server-offer.js';
import { createHostTransport, type HostPipes } from './stdio-transport.js';
import { watchFor } from './watching.js';

/** A running stdio front. */
export interface StdioFront {
  /** Resolves when the host has closed the connection; rejects when what it asked for cannot be served. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one host over its pipes, in whichever era it opens with; with `server`, that one passed through. */
export function serveMcpStdio(deps: FrontDeps & HostPipes & { readonly server?: string }): StdioFront {
  const { gateway, log } = deps;
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) deps.input.once(event, () => resolve());
    deps.output.once('error', () => resolve());
  });
  const front = createFront(deps);
  const sender = { principal: 'local', connection: newId() };

  const serve = async (): Promise<{ close(): Promise<void> }> => {
    const only = deps.server === undefined ? undefined : await createServerOffer(gateway, deps.server);
    const listening = new Map<RequestId, () => void>();
    // A host may listen with its first message, before there is anybody to hear it.
    const early = new Map<RequestId, unknown>();
    let watch = (id: RequestId, params: unknown): void => void early.set(id, params);
    const lane = front.laneFor(createHostTransport(deps), {
      principal: sender.principal,
      sole: true,
      sessionId: newId,
      offer: (introduction) => only ?? front.offerFor(introduction),
      onListen(id, params) {
        listening.get(id)?.();
        listening.delete(id);
        early.delete(id);
        if (params !== undefined) watch(id, params);
      },
    });
    const handle = serveStdio(
      ({ era }) => {
        const offer = lane.offer ?? only ?? front.offerFor({});
        const server = createMcpServer(offer, (request, context) =>
          front.modern.answer(offer, request, context, sender),
        );
        if (era === 'legacy') return server;
        const tell = (method: string, params?: object): void => {
          server
            .notification({ method, ...params } as never)
            .catch((thrown: unknown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }));
        };
        const unlisten = front.listen({ offer, changed: (kind) => tell(listChanged(kind)) });
        const onUpdate = (_uri: string, params: object): void => tell('notifications/resources/updated', { params });
        watch = (id, params) => {
          const host = front.modern.listener(isObject(params) ? params['_meta'] : undefined, sender);
          listening.set(id, watchFor(offer, params, { host, log, onUpdate }));
        };
        for (const [id, params] of early) watch(id, params);
        early.clear();
        server.onclose = () => {
          unlisten();
          for (const stop of listening.values()) stop();
          gateway.releaseHost({ id: sender.connection });
        };
        return server;
      },
      { transport: lane, onerror: (error) => log.warn('mcp.stdio', { error: error.message }) },
    );
    return handle;
  };
  const serving = serve();
  return {
    closed: Promise.race([gone, serving.then(() => gone)]),
    async close() {
      front.close();
      await serving.then(
        (handle) => handle.close(),
        () => undefined,
      );
    },
  };
}
