import type { ProposingDeps } from '../../deps.js';
import type { ProposedServer } from '../../contract/proposals.js';
import { seenItems } from '../../../approvals/index.js';
import { isServerId, suggestServerId } from '../../../config/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';
import { printable } from '../../../kernel/text.js';
import type { Approval } from '../../../model/approval.js';
import type { Server } from '../../../model/server.js';
import { presented } from '../../../catalog/catalog.js';
import type { Core } from '../../core.js';
import type { Exporting } from '../export-verbs.js';
import { introspect, type Introspected } from './introspection.js';
import { requirePublic } from '../../../net/public-address.js';
import { defineVerbs, type VerbTable } from '../define-verbs.js';

/** Names shown of a candidate. */
const TOOLS_SHOWN = 200;
const MAX_NAME = 64;

/** A name with nothing in it that could speak to a model or move a cursor. */
function plainName(name: unknown): string {
  return String(name)
    .replace(/[^\w./-]/g, '_')
    .slice(0, MAX_NAME);
}

/** An id from the name of a host: `mcp.example.com` → `mcp-example-com`. */
function idOf(url: URL): string {
  return (
    url.hostname
      .replace(/[^A-Za-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, MAX_NAME) || 'server'
  );
}

/** A server that awaits a decision, and how it was found. */
interface Found {
  readonly proposal: ProposedServer;
  readonly origin: 'registry' | 'introspected';
}

/** Who proposes servers, and how they were found. */
interface ProposalOptions {
  readonly by: string;
  readonly origin: 'registry' | 'introspected';
  readonly traceId?: string;
}

/** Proposing servers: the verbs, and what other verbs use to propose what they found. */
export interface Proposing {
  readonly verbs: VerbTable<'servers.introspect' | 'servers.register' | 'servers.unregister'>;
  /** Registers servers and asks for their approval; tools are asked for as they were seen. */
  proposeAll(
    proposals: ReadonlyArray<{ readonly proposal: ProposedServer; readonly seen?: Introspected }>,
    options: ProposalOptions,
  ): Promise<Approval[]>;
  /** An id like this one that no other server has, and that is not taken otherwise. */
  freeId(wanted: string, taken?: ReadonlySet<string>): string;
  /** Asks a server that is not approved for its tools, and writes them down for review. */
  lookAt(server: Server, options?: { readonly allowPrivate?: boolean }): Promise<Introspected>;
  /** Makes a server of a proposal; it is not registered by that. */
  make(proposal: ProposedServer): Server;
}

/** The verbs that propose servers; what they propose is pending and starts nothing (SEC-9). */
export function createProposing(
  core: Core,
  reload: () => Promise<unknown>,
  exporting: Pick<Exporting, 'review'>,
): Proposing {
  const { audit, clock, log, promotion, proposing } = core.deps;

  const parts = (): ProposingDeps => {
    if (proposing) return proposing;
    throw new ToolscoutError('FORBIDDEN', 'This gateway does not accept server proposals.', {
      remedy: { kind: 'configure', what: 'Add the server to the config.' },
    });
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

  const requireFree = (id: string): void => {
    const known = core.catalog.servers.get(id);
    if (known && known.origin === undefined) {
      throw new ToolscoutError('INVALID_REQUEST', `A server "${id}" is configured already.`, {
        suggestion: 'Choose another id.',
      });
    }
    if (known && !core.catalog.hold(id)) {
      throw new ToolscoutError('INVALID_REQUEST', `The server "${id}" is registered and approved already.`, {
        suggestion: 'Choose another id. This id becomes free when a person rejects that server.',
      });
    }
  };

  /** Registers one server; it is there after the next reload. */
  const register = async (
    proposal: ProposedServer,
    { by, origin, traceId, seen }: ProposalOptions & { readonly seen?: Introspected },
  ): Promise<Server> => {
    const { registrations } = parts();
    requireFree(proposal.id);
    if (core.approvals.doubt()) {
      throw new ToolscoutError('STORE_ERROR', 'The store must be accepted before servers can be registered.', {
        remedy: { kind: 'accept-store' },
      });
    }
    const server: Server = { ...make(proposal), origin };
    const { approval: policy } = core.loaded.config;
    await registrations.put({ id: proposal.id, entry: entryOf(proposal), origin, by, at: clock.now() });
    await core.approvals.request([server], policy, { renew: true });
    // Asked for one by one, so that what is approved later is what was reviewed and nothing else.
    if (seen && policy !== 'off') {
      const shown = { ...presented(seen.list), tools: [...seen.tools, ...seenItems(seen.list)] };
      await core.approvals.admit(server, shown, { policy: 'manual', fresh: true });
    }
    const { shown } = server;
    const detail = { transport: shown.type, target: shown.target, origin };
    await audit.recordNow({ kind: 'register', principal: by, traceId, server: server.id, outcome: 'success', detail });
    return server;
  };

  const proposeAll: Proposing['proposeAll'] = async (proposals, options) => {
    await core.filled();
    const servers: Server[] = [];
    for (const { proposal, seen } of proposals) servers.push(await register(proposal, { ...options, seen }));
    if (servers.length > 0) await reload();
    return servers.map((server) => {
      const approval = core.approvals.list([server]).find(({ about }) => about === 'launch');
      if (!approval) {
        throw new ToolscoutError('INTERNAL_ERROR', `No approval request was created for the server "${server.id}".`);
      }
      core.events.emit({ type: 'approval', approval });
      return approval;
    });
  };

  const propose = async (
    proposal: ProposedServer,
    { seen, ...options }: ProposalOptions & { readonly seen?: Introspected },
  ): Promise<Approval> => {
    const [approval] = await proposeAll([{ proposal, seen }], options);
    return approval!;
  };

  /** The servers that a URL is known as. */
  const knownAs = (url: string): Server[] =>
    [...core.catalog.servers.values()].filter(({ transport }) => transport.type !== 'stdio' && transport.url === url);

  /** An id that no other server has. */
  const freeId: Proposing['freeId'] = (wanted, taken) => {
    for (let at = 1; ; at++) {
      const id = at === 1 ? wanted : `${wanted}-${at}`;
      if (!core.catalog.servers.has(id) && !taken?.has(id)) return id;
    }
  };

  /** The proposal for a URL: the registered server that has it already, or a new one. */
  const proposalFor = (url: URL, wanted: string | undefined): Found => {
    const [known] = knownAs(url.href);
    if (known && (known.origin === undefined || !core.catalog.hold(known.id))) {
      throw new ToolscoutError('INVALID_REQUEST', `The server "${known.id}" has this URL and is in use already.`, {
        remedy: { kind: 'discover', server: known.id },
      });
    }
    if (known) return { proposal: { id: known.id, url: url.href }, origin: known.origin! };
    if (wanted !== undefined && !isServerId(wanted)) {
      throw new ToolscoutError(
        'INVALID_REQUEST',
        `"${printable(wanted)}" cannot be an id; use "${suggestServerId(wanted)}".`,
      );
    }
    if (wanted !== undefined) requireFree(wanted);
    return { proposal: { id: wanted ?? freeId(idOf(url)), url: url.href }, origin: 'introspected' };
  };

  /** The registered server that is meant; one that is in use is discovered, not introspected. */
  const registered = async (id: string): Promise<Found> => {
    const server = core.catalog.server(id);
    if (server.origin === undefined || !core.catalog.hold(id)) {
      throw new ToolscoutError(
        'INVALID_REQUEST',
        `The server "${id}" cannot be introspected again: it does not wait for approval.`,
        {
          remedy: { kind: 'discover', server: id },
        },
      );
    }
    const known = (await parts().registrations.list()).find((each) => each.id === id);
    if (!known) throw new ToolscoutError('SERVER_NOT_FOUND', `No server "${id}" is registered.`);
    return { proposal: { ...(known.entry as Omit<ProposedServer, 'id'>), id }, origin: known.origin };
  };

  const lookAt: Proposing['lookAt'] = (server, options) => introspect(core, server, parts(), options);

  return {
    proposeAll,
    freeId,
    lookAt,
    make,
    verbs: defineVerbs({
      async 'servers.introspect'({ principal }, target, { allowPrivate = false, by = principal, traceId } = {}) {
        const { lookup } = parts();
        await core.filled();
        const { proposal, origin } =
          'server' in target
            ? await registered(target.server)
            : proposalFor(allowPrivate ? new URL(target.url) : await requirePublic(target.url, lookup), target.id);
        const server = make(proposal);
        const seen = await lookAt(server, { allowPrivate });
        const detail = { url: server.shown.target, tools: seen.list.items.length };
        await audit.recordNow({ kind: 'introspect', principal: by, traceId, outcome: 'success', detail });
        const approval = await propose(proposal, { by, origin, seen, traceId });
        const review = await exporting.review(server, seen.tools).catch((thrown: unknown) => {
          log.warn('export.failed', { server: server.id, reason: core.hide(messageOf(thrown)) });
          return core.hide(messageOf(thrown));
        });
        return {
          proposal,
          protocolVersion: seen.protocolVersion,
          tools: seen.list.items.slice(0, TOOLS_SHOWN).map(({ name }) => plainName(name)),
          dropped: seen.list.dropped,
          approval,
          ...(typeof review === 'string' ? { problem: review } : { review }),
        };
      },

      'servers.register': ({ principal }, proposal, { by = principal, origin = 'introspected', traceId } = {}) =>
        propose(proposal, { by, origin, traceId }),

      async 'servers.unregister'({ principal }, id, { by = principal, traceId } = {}) {
        await core.filled();
        const { registrations } = parts();
        if (!(await registrations.list()).some((each) => each.id === id)) {
          const isConfigured = core.catalog.servers.has(id);
          throw new ToolscoutError('SERVER_NOT_FOUND', `No server "${id}" is registered.`, {
            ...(isConfigured && {
              remedy: { kind: 'configure', what: 'Remove the server from the config.' },
            }),
          });
        }
        const server = core.catalog.servers.get(id);
        const isOwn = server?.origin !== undefined;
        // Registered again it must be approved again.
        if (isOwn && !core.catalog.hold(id)) {
          const ruling = { by, reason: 'it was removed', at: clock.now() };
          await core.approvals.reject(server, [{ about: 'launch' }], { ruling });
        }
        await registrations.remove(id);
        if (isOwn) {
          await core.marketplace.withdraw(id);
          await promotion?.withdraw(id);
        }
        await audit.recordNow({ kind: 'unregister', principal: by, traceId, server: id, outcome: 'success' });
        await reload();
      },
    }),
  };
}
