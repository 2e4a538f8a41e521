import type { Gateway } from '../../../gateway/index.js';
import { newId } from '../../../kernel/ids.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { protocolError } from '../exchange.js';
import { createFront } from '../front.js';
import { createListens } from '../sessions/open-listens.js';
import type { HostSurface } from '../menu/host-surface.js';
import { openHost, type Served } from '../sessions/opening.js';
import type { FrontDeps } from '../server.js';
import { createHostTransport, type HostPipes } from './stdio-transport.js';

/** A running stdio front. */
export interface StdioFront {
  /** Resolves when the host has closed the connection; rejects when what it asked for cannot be served. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

/** Refuses a toolscout that serves the same configuration: it would be a server of itself, and each would start the next (CFG-5). */
function refuseOwn(gateway: Gateway, { clientInfo }: JsonObject): void {
  if (!isObject(clientInfo) || clientInfo['name'] !== 'toolscout' || !gateway.internal.lineage().isNested) return;
  const message =
    'This is a toolscout with the same configuration as the one that started it: remove it from its servers.';
  throw protocolError(RPC_CODE.loopDetected, message);
}

/** Serves one host over its pipes, in whichever era it opens with; with `server`, that one passed through. */
export function serveMcpStdio(
  deps: FrontDeps &
    HostPipes & {
      readonly server?: string;
      /** This process serves other hosts too; questions to this one are numbered from `firstQuestion` on. */
      readonly shared?: { readonly firstQuestion: number };
    },
): StdioFront {
  const { gateway, log } = deps;
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) deps.input.once(event, () => resolve());
    deps.output.once('error', () => resolve());
  });
  const front = createFront(deps);
  const sender = { principal: 'local', connection: newId(), isGrouped: deps.shared !== undefined };

  const serve = async (): Promise<Served> => {
    const surfaceFor = deps.server === undefined ? front.surfaceFor : await front.serverSurface(deps.server);
    const listens = createListens();
    let nameless: HostSurface | undefined;
    const hostTransport = front.transportFor(createHostTransport(deps), {
      principal: sender.principal,
      sole: deps.shared === undefined,
      isPipe: true,
      isGrouped: deps.shared !== undefined,
      firstQuestion: deps.shared?.firstQuestion,
      surface(introduction) {
        refuseOwn(gateway, introduction);
        return surfaceFor(introduction);
      },
      onListen: listens.onListen,
    });
    const onError = (error: Error): void => log.warn('mcp.stdio', { error: error.message });
    return openHost(hostTransport, {
      onError,
      async loadProtocol() {
        const { serveStdioProtocol } = await import('./stdio-protocol.js');
        return () =>
          serveStdioProtocol({
            hostTransport,
            front,
            surface: () => hostTransport.surface ?? (nameless ??= surfaceFor({})),
            sender,
            listens,
            log,
            onError,
            onClose: () => gateway.hosts.release({ id: sender.connection }),
          });
      },
    });
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
