import type { Registrations } from '../approvals/index.js';
import { listTools } from '../discover/index.js';
import { hideIn, ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Server } from '../model/server.js';
import type { Upstream } from '../model/upstream.js';
import type { Core } from './core.js';
import { requirePublic, type Lookup } from './public-address.js';
import type { Gateway } from './verbs.js';

/** What registering servers needs of the world; `main.ts` hands it in. */
export interface ProposingDeps {
  readonly registrations: Registrations;
  /** Makes a server out of what would stand in a config; nothing of the environment is filled in. */
  readonly makeServer: (id: string, entry: JsonObject) => Server;
  /** Opens a connection that is not the pool's. */
  readonly open: (server: Server, signal: AbortSignal) => Promise<Upstream>;
  readonly lookup: Lookup;
}

/** A server as a caller proposes it. */
export interface ProposedServer {
  readonly id: string;
  readonly url?: string;
  readonly command?: string;
  readonly args?: readonly string[];
  readonly title?: string;
}

/** What a URL turned out to be: enough to propose it, nothing that speaks to a model. */
export interface Candidate {
  /** What {@link Gateway.registerServer} takes. */
  readonly proposal: ProposedServer;
  readonly protocolVersion: string;
  /** Names of its tools, without what cannot stand in a name; descriptions are for whoever approves. */
  readonly tools: readonly string[];
  readonly dropped: number;
}

/** Names shown of a candidate. */
const TOOLS_SHOWN = 200;
const LONGEST_NAME = 64;

/** A name with nothing in it that could speak to a model or move a cursor. */
function plainName(name: unknown): string {
  return String(name)
    .replace(/[^\w./-]/g, '_')
    .slice(0, LONGEST_NAME);
}

/** An id from the name of a host: `mcp.example.com` → `mcp-example-com`. */
function idOf(url: URL): string {
  return (
    url.hostname
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, LONGEST_NAME) || 'server'
  );
}

/** The verbs that propose servers; what they propose is pending and starts nothing (SEC-9). */
export function proposalVerbs(
  core: Core,
  reload: Gateway['reload'],
): Pick<Gateway, 'introspectRemoteApi' | 'registerServer' | 'unregisterServer'> {
  const { audit, clock, limiter, proposing } = core.deps;

  const parts = (): ProposingDeps => {
    if (proposing) return proposing;
    throw new ToolscoutError('FORBIDDEN', 'Servers cannot be registered here; write them into the config.');
  };

  const entryOf = ({ url, command, args, title }: ProposedServer): JsonObject => ({
    ...(url === undefined ? {} : { url }),
    ...(command === undefined ? {} : { command }),
    ...(args === undefined ? {} : { args: [...args] }),
    ...(title === undefined ? {} : { title }),
  });

  const make = (proposal: ProposedServer): Server => {
    const problem = [proposal.url, proposal.command, ...(proposal.args ?? [])].some((text) => text?.includes('${'))
      ? 'variables are not filled in for a registered server'
      : undefined;
    const server = parts().makeServer(proposal.id, entryOf(proposal));
    const wrong = problem ?? server.problem;
    if (wrong === undefined) return server;
    throw new ToolscoutError('INVALID_REQUEST', `The server "${proposal.id}" cannot be registered: ${wrong}.`);
  };

  return {
    async introspectRemoteApi({ url: text }, { allowPrivate = false, by = 'local' } = {}) {
      const { open, lookup } = parts();
      const url = allowPrivate ? new URL(text) : await requirePublic(text, lookup);
      const proposal = { id: idOf(url), url: url.href };
      const server = make(proposal);
      const stop = new AbortController();
      const timer = clock.after(server.connectTimeoutMs + server.timeoutMs, () => stop.abort(), { awaited: true });
      let upstream: Upstream | undefined;
      try {
        await limiter.wait(server, stop.signal);
        // Checked once more when it is dialled: a name may lead elsewhere by then.
        upstream = await open(allowPrivate ? server : { ...server, origin: 'introspected' }, stop.signal);
        const { items, bad } = await listTools(upstream, { signal: stop.signal, timeoutMs: server.timeoutMs });
        const { protocolVersion } = upstream;
        const detail = { url: server.shown.target, tools: items.length };
        await audit.recordNow({ kind: 'introspect', principal: by, outcome: 'success', detail });
        return {
          proposal,
          protocolVersion,
          tools: items.slice(0, TOOLS_SHOWN).map(({ name }) => plainName(name)),
          dropped: bad.length,
        };
      } catch (thrown) {
        throw hideIn(toToolscoutError(thrown), core.hide);
      } finally {
        timer.cancel();
        await upstream?.close();
      }
    },

    async registerServer(proposal, { by = 'local', origin = 'introspected' } = {}) {
      const { registrations } = parts();
      await core.filled();
      const known = core.catalog.servers.get(proposal.id);
      if (known && known.origin === undefined) {
        throw new ToolscoutError('INVALID_REQUEST', `A server "${proposal.id}" is configured already.`, {
          suggestion: 'Choose another id.',
        });
      }
      if (known && !core.catalog.hold(proposal.id)) {
        throw new ToolscoutError('INVALID_REQUEST', `The server "${proposal.id}" is registered and approved already.`, {
          suggestion: 'Choose another id, or ask the user to reject that one first.',
        });
      }
      const server: Server = { ...make(proposal), origin };
      await registrations.put({ id: proposal.id, entry: entryOf(proposal), origin, by, at: clock.now() });
      await core.approvals.request([server], core.loaded.config.approval, { renew: true });
      const { shown } = server;
      const detail = { transport: shown.type, target: shown.target, origin };
      await audit.recordNow({ kind: 'register', principal: by, server: server.id, outcome: 'success', detail });
      await reload();
      const approval = core.approvals.list([server]).find(({ about }) => about === 'launch');
      if (!approval) throw new ToolscoutError('INTERNAL_ERROR', `The server "${server.id}" was not asked for.`);
      core.events.emit({ type: 'approval', approval });
      return approval;
    },

    async unregisterServer(id, { by = 'local' } = {}) {
      const was = await parts().registrations.remove(id);
      if (!was) throw new ToolscoutError('SERVER_NOT_FOUND', `No server "${id}" is registered.`);
      await audit.recordNow({ kind: 'unregister', principal: by, server: id, outcome: 'success' });
      await reload();
    },
  };
}
