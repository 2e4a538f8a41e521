import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../../kernel/errors.js';
import { isObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import { listChanged, type McpFront } from '../front.js';
import type { LegacyHostTransport } from '../sessions/legacy-host-transport.js';
import type { Listens } from '../sessions/listens.js';
import type { Sender } from '../sessions/modern.js';
import type { HostSurface } from '../menu/host-surface.js';
import type { Served } from './opening.js';
import { createMcpServer } from '../server.js';
import { watchFor } from '../sessions/watching.js';

/** What the protocol server over the pipes of a host needs. */
export interface StdioProtocolDeps {
  readonly lane: LegacyHostTransport;
  readonly front: McpFront;
  /** What the host is offered, as far as it has introduced itself. */
  readonly offer: () => HostSurface;
  readonly sender: Sender & { readonly connection: string };
  readonly listens: Listens;
  readonly log: Log;
  readonly onError: (error: Error) => void;
  /** Called when a modern host has gone. */
  readonly onClose: () => void;
}

/** Puts the protocol server behind a lane: it serves a host in whichever era it opens with. */
export function serveStdioProtocol(deps: StdioProtocolDeps): Served {
  const { front, sender, listens, log } = deps;
  return serveStdio(
    ({ era }) => {
      const offer = deps.offer();
      const server = createMcpServer(offer, (request, context) =>
        front.modern.answer(deps.offer(), request, context, sender),
      );
      if (era === 'legacy') return server;
      const tell = (method: string, params?: object): void => {
        server
          .notification({ method, ...params } as never)
          .catch((thrown: unknown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }));
      };
      const concerns: HostSurface['concerns'] = (changed, kind) => deps.offer().concerns(changed, kind);
      const unlisten = front.listen({ offer: { concerns }, changed: (kind) => tell(listChanged(kind)) });
      const onUpdate = (_uri: string, params: object): void => tell('notifications/resources/updated', { params });
      listens.begin((params) => {
        const host = front.modern.listener(isObject(params) ? params['_meta'] : undefined, sender);
        return watchFor(deps.offer(), params, { host, log, onUpdate });
      });
      server.onclose = () => {
        unlisten();
        listens.end();
        deps.onClose();
      };
      return server;
    },
    { transport: deps.lane, onerror: deps.onError },
  );
}
