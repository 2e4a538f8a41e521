import type {
  RegistryCandidate,
  RegistryFindings,
  RegistryFind,
  RegistryPlan,
  RegistryPlanOptions,
} from '../contract/registry.js';
import { suggestServerId } from '../../config/index.js';
import { discoverAll } from '../../discover/index.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import { addressOf } from '../../kernel/ids.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { ServerEntry } from '../../model/config.js';
import type { RegistryServer } from '../../model/registry-server.js';
import type { Server } from '../../model/server.js';
import type { Tool } from '../../model/tool.js';
import type { RegistryClient, RegistrySearchOptions } from '../../registry/index.js';
import { isStandIn } from '../../catalog/catalog.js';
import type { Core } from '../core.js';
import type { Exporting } from './export-verbs.js';
import type { Introspected } from './servers/introspection.js';
import type { Proposing } from './servers/server-proposals.js';
import type { ProposedServer } from '../contract/proposals.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { isUsable } from '../../catalog/catalog.js';

/** How often the registry is asked for one capability. */
const MAX_QUESTIONS = 3;

/** Characters of a description that is taken over into the config. */
const MAX_DESCRIPTION = 200;

function idOf(name: string): string {
  return suggestServerId(name.slice(name.indexOf('/') + 1));
}

/** The word of an argv that names the package, without its version. */
function packageIn(entry: ServerEntry): string | undefined {
  const own = { npx: /^(.+)@[^@/]+$/, uvx: /^(.+)==[^=]+$/, dnx: /^(.+)@[^@]+$/, docker: /^(.+?)(?::[^:/]+)?$/ };
  const form = Object.hasOwn(own, entry.command ?? '') ? own[entry.command as keyof typeof own] : undefined;
  const words = (entry.args ?? []).filter((word) => !word.startsWith('-'));
  const [name] = entry.command === 'docker' ? words.filter((word) => word.includes('/') || word.includes(':')) : words;
  return name === undefined || form === undefined ? undefined : (form.exec(name)?.[1] ?? name);
}

/** Whether two entries lead to the same server: the same URL, or the same package whatever its version. */
function isSameServer(a: ServerEntry, b: ServerEntry): boolean {
  if (a.url !== undefined || b.url !== undefined) return a.url === b.url;
  const name = packageIn(a);
  return a.command === b.command && name !== undefined && name === packageIn(b);
}

function wordsOf(text: string): string[] {
  const parts = text.replace(/([a-z0-9])([A-Z])/g, '$1 $2').toLowerCase();
  return parts.split(/[^a-z0-9]+/).filter((word) => word !== '');
}

/** Whether a tool offers a capability: by name, tag or domain, by `domain:verb`, or because its names hold all its words. */
function offers(tool: Tool, capability: string): boolean {
  const address = addressOf(tool.server, tool.name);
  if ([tool.name, address, ...tool.tags, ...tool.domains].includes(capability)) return true;
  const names = new Set([...wordsOf(address), ...tool.domains.flatMap(wordsOf), ...tool.categories.flatMap(wordsOf)]);
  const words = wordsOf(capability);
  return words.length > 0 && words.every((word) => names.has(word) || names.has(`${word}s`));
}

/** The entry also says what the server is for, as the registry does. */
function withDescription(launch: RegistryCandidate['launch'], { description }: RegistryServer): typeof launch {
  const text = oneLine(printable(description), MAX_DESCRIPTION);
  return launch.ok && text !== '' ? { ...launch, entry: { ...launch.entry, description: text } } : launch;
}

/** The most servers that one discovery in the registry registers. */
const MAX_REGISTERED = 50;

/** A server of the registry as a proposal; or why it cannot be one without answers of a person. */
function proposalOf(id: string, { launch, title }: RegistryCandidate): ProposedServer | { readonly reason: string } {
  if (!launch.ok) return { reason: launch.reason };
  if (launch.missing.length > 0) return { reason: `it needs ${launch.missing.join(', ')}` };
  const { url, command, args, env, headers } = launch.entry;
  if (env !== undefined || headers !== undefined || launch.variables.length > 0) {
    return { reason: 'it needs variables or headers' };
  }
  return { id, url, command, args, ...(title === undefined ? {} : { title }) };
}

/** The verbs of the facet `registry` that search for servers that are not configured yet (REG-9). */
export function registryVerbs(
  core: Core,
  { proposing, exporting }: { readonly proposing: Proposing; readonly exporting: Pick<Exporting, 'review'> },
): VerbTable<'registry.search' | 'registry.discover' | 'registry.serversFor' | 'registry.plan'> {
  const client = async (): Promise<RegistryClient> => {
    if (core.deps.openRegistry) return core.deps.openRegistry(core.loaded.config.registry);
    throw new ToolscoutError('REGISTRY_UNAVAILABLE', 'This toolscout was opened without a registry.', {
      suggestion: 'Open toolscout with createToolscout(); with createGateway(), set deps.openRegistry.',
    });
  };

  const configuredAs = (entries: readonly ServerEntry[]): string | undefined =>
    Object.entries(core.loaded.config.servers).find(([, own]) =>
      entries.some((entry) => isSameServer(own, entry)),
    )?.[0];

  const candidateOf = async (server: RegistryServer, options: RegistryPlanOptions = {}): Promise<RegistryPlan> => {
    const { planLaunch, planLaunches } = await import('../../registry/index.js');
    const id = options.id ?? idOf(server.name);
    const ways = planLaunches(server, { id });
    const configured = configuredAs(ways.flatMap((way) => (way.ok ? [way.entry] : [])));
    const { name, title, description, version, status } = server;
    const candidate: RegistryCandidate = {
      name,
      title,
      description,
      version,
      status,
      state: configured === undefined ? 'pending' : 'configured',
      server: configured,
      launch: withDescription(planLaunch(server, { id, answers: options.answers, way: options.way }), server),
    };
    return { candidate, id, ways };
  };

  const search = async (query: string, options?: RegistrySearchOptions): Promise<RegistryFindings> => {
    const answer = await (await client()).search(query, options);
    const plans = await Promise.all(answer.servers.map((server) => candidateOf(server)));
    return { ...answer, servers: plans.map(({ candidate }) => candidate) };
  };

  /** A registry looks for one piece of text, so each word is tried, and what fits most words comes first. */
  const searchWords = async (words: readonly string[]): Promise<RegistryFindings> => {
    let last: RegistryFindings | undefined;
    for (const word of words.slice(0, MAX_QUESTIONS)) {
      last = await search(word);
      if (last.servers.length === 0) continue;
      const fit = ({ name, description }: RegistryCandidate): number => {
        const text = `${name} ${description}`.toLowerCase();
        return words.filter((each) => text.includes(each)).length;
      };
      return { ...last, servers: last.servers.toSorted((a, b) => fit(b) - fit(a) || (a.name < b.name ? -1 : 1)) };
    }
    return last ?? { servers: [], truncated: false, dropped: 0, learnedAt: core.deps.clock.now() };
  };

  /** The registered server that is reached in the same way as a candidate. */
  const registeredAs = (server: Server): Server | undefined =>
    [...core.catalog.servers.values()].find(
      ({ origin, shown }) =>
        origin !== undefined && shown.type === server.shown.type && shown.target === server.shown.target,
    );

  /** Looks at a candidate that is not configured, as far as that is allowed before it is approved. */
  const lookAt = async (
    id: string,
    candidate: RegistryCandidate,
  ): Promise<{ find: RegistryFind; proposal?: ProposedServer; seen?: Introspected }> => {
    const { name } = candidate;
    const pending = (more: Partial<RegistryFind>): RegistryFind => ({ name, state: 'pending', tools: [], ...more });
    const wanted = proposalOf(id, candidate);
    if ('reason' in wanted) return { find: pending({ reason: wanted.reason }) };
    try {
      const known = registeredAs(proposing.make(wanted));
      if (known && !core.catalog.hold(known.id)) {
        return { find: pending({ server: known.id, state: 'configured', tools: core.catalog.index.tools(known.id) }) };
      }
      const proposal = known ? { ...wanted, id: known.id } : wanted;
      const server = proposing.make(proposal);
      try {
        const seen = await proposing.lookAt(server);
        const tools = seen.tools.map((tool) => ({
          ...tool,
          status: 'pending' as const,
          hold: { cause: 'waiting' as const, reason: 'its server waits for approval' },
        }));
        return { find: pending({ server: server.id, tools }), proposal, seen };
      } catch (thrown) {
        return { find: pending({ server: server.id, reason: core.hide(messageOf(thrown)) }), proposal };
      }
    } catch (thrown) {
      return { find: pending({ reason: core.hide(messageOf(thrown)) }) };
    }
  };

  return defineVerbs({
    'registry.search': (_viewer, query, options) => search(query, options),

    async 'registry.discover'(_viewer, query, options = {}) {
      await core.filled();
      const findings = await search(query);
      const { config } = core.loaded;
      const parallel = options.maxParallelDiscoveries ?? config.maxParallelDiscoveries;
      const lendSlots = options.lendSlots ?? config.lendSlots === true;
      const ids = new Set(findings.servers.flatMap(({ server }) => (server === undefined ? [] : [server])));
      const servers = [...ids].map((id) => core.catalog.server(id)).filter(isUsable);
      const { retryPolicy: retry, rateLimit } = options;
      const outcomes = await core.learner.learnAll(servers, { parallel, lendSlots, terms: { retry, rateLimit } });
      const pending = findings.servers.filter(({ server }) => server === undefined).slice(0, MAX_REGISTERED);
      const taken = new Set<string>();
      const wanted = pending.map((candidate) => {
        const id = proposing.freeId(idOf(candidate.name), taken);
        taken.add(id);
        return { id, candidate };
      });
      const looked = await discoverAll(wanted, ({ id, candidate }) => lookAt(id, candidate), {
        clock: core.deps.clock,
        parallel,
        lendSlots,
      });
      const seen = looked.flatMap((each) => (each.ok ? [each.value] : []));
      const fresh = seen.flatMap(({ proposal, seen: tools }) => (proposal ? [{ proposal, seen: tools }] : []));
      await proposing.proposeAll(fresh, { by: 'registry', origin: 'registry' });
      if (options.exportToRtfs ?? config.exportToRtfs) {
        for (const { proposal, seen: tools } of fresh) {
          if (tools) await exporting.review(proposing.make(proposal), tools.tools);
        }
      }
      const known = findings.servers.flatMap(({ name, server }) =>
        server === undefined
          ? []
          : [{ name, server, state: 'configured' as const, tools: core.catalog.index.tools(server) }],
      );
      return { ...findings, outcomes, found: [...known, ...seen.map(({ find }) => find)] };
    },

    async 'registry.serversFor'(_viewer, capability) {
      await core.filled();
      const { catalog, learner } = core;
      const usable = [...catalog.servers.values()].filter(isUsable);
      const isUnlearned = ({ id }: Server): boolean => !catalog.list(id) || isStandIn(catalog.list(id));
      const due = usable.filter((server) => isUnlearned(server) && learner.isDue(server.id));
      core.learnInBackground(due);
      await learner.settle(
        due.map(({ id }) => id),
        core.loaded.config.limits.searchWaitMs,
      );
      const wanted = capability.toLowerCase();
      const local = usable.flatMap(({ id, capabilities = [] }) => {
        const tools = catalog.index
          .tools(id)
          .filter((tool) => tool.status === 'enabled' && offers(tool, capability))
          .map((tool) => tool.name);
        const named = [...capabilities, ...(core.probed.get(id) ?? [])];
        const declared = named.some((each) => each.toLowerCase() === wanted);
        return tools.length === 0 && !declared ? [] : [{ server: id, tools, declared }];
      });
      const unlearned = usable.filter(isUnlearned).map(({ id }) => id);
      if (local.length > 0) return { local, unlearned };
      try {
        return { local, unlearned, registry: await searchWords([...new Set(wordsOf(capability))]) };
      } catch (thrown) {
        return { local, unlearned, problem: core.hide(messageOf(thrown)) };
      }
    },

    async 'registry.plan'(_viewer, name, options = {}) {
      const found = await (await client()).find(name);
      return candidateOf(found, options);
    },
  });
}
