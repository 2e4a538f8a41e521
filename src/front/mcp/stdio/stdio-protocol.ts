import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { messageOf } from '../../../kernel/errors.js';
import { isObject } from '../../../kernel/json.js';
import type { Log } from '../../../kernel/log.js';
import { listChanged, type McpFront } from '../front.js';
import type { LegacyHostTransport } from '../sessions/legacy-host-transport.js';
import type { Listens } from '../sessions/open-listens.js';
import type { Sender } from '../sessions/modern-hosts.js';
import type { HostSurface } from '../menu/host-surface.js';
import type { Served } from '../sessions/opening.js';
import { createMcpServer } from '../server.js';
import { watchFor } from '../sessions/watch-resources.js';

/** What the protocol server over the pipes of a host needs. */
export interface StdioProtocolDeps {
  readonly hostTransport: LegacyHostTransport;
  readonly front: McpFront;
  /** What the host is offered, as far as it has introduced itself. */
  readonly surface: () => HostSurface;
  readonly sender: Sender & { readonly connection: string };
  readonly listens: Listens;
  readonly log: Log;
  readonly onError: (error: Error) => void;
  /** Called when a modern host has gone. */
  readonly onClose: () => void;
}

/** Puts the protocol server behind a host transport: it serves a host in whichever era it opens with. */
export function serveStdioProtocol(deps: StdioProtocolDeps): Served {
  const { front, sender, listens, log } = deps;
  return serveStdio(
    ({ era }) => {
      const surface = deps.surface();
      const server = createMcpServer(surface, (request, context) =>
        front.modern.answer(deps.surface(), request, context, sender),
      );
      if (era === 'legacy') return server;
      const tell = (method: string, params?: object): void => {
        server
          .notification({ method, ...params } as never)
          .catch((thrown: unknown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }));
      };
      const concerns: HostSurface['concerns'] = (changed, kind) => deps.surface().concerns(changed, kind);
      const unlisten = front.listen({ surface: { concerns }, changed: (kind) => tell(listChanged(kind)) });
      const onUpdate = (_uri: string, params: object): void => tell('notifications/resources/updated', { params });
      listens.begin((params) => {
        const host = front.modern.listener(isObject(params) ? params['_meta'] : undefined, sender);
        return watchFor(deps.surface(), params, { host, log, onUpdate });
      });
      server.onclose = () => {
        unlisten();
        listens.end();
        deps.onClose();
      };
      return server;
    },
    { transport: deps.hostTransport, onerror: deps.onError },
  );
}
