import { isServerId, suggestServerId } from '../config/index.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { oneLine, printable } from '../kernel/text.js';
import type { ServerEntry } from '../model/config.js';
import type { Launch, LaunchAnswers, RegistryAnswer, RegistryServer } from '../model/registry-server.js';
import type { Tool } from '../model/tool.js';
import type { RegistryClient, RegistrySearchOptions } from '../registry/index.js';
import type { Core } from './core.js';
import type { DiscoveryOutcome } from './learner.js';
import type { Gateway } from './verbs.js';
import { isUsable } from './views.js';

/** A server of the registry, and where it stands with us. It is never started because a registry names it (SEC-9). */
export interface RegistryCandidate {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version: string;
  readonly status: RegistryServer['status'];
  /** `configured`: the user has a server that runs the same package or URL. `pending`: somebody must decide. */
  readonly state: 'configured' | 'pending';
  /** The configured server. */
  readonly server?: string;
  /** How it would be reached, with the exact command; or why it cannot be. */
  readonly launch: Launch;
}

/** What a search of the registry found, newest versions only. */
export interface RegistryFindings extends Omit<RegistryAnswer, 'servers'> {
  readonly servers: readonly RegistryCandidate[];
}

/** What was found in the registry, and what those servers offer that are configured already. */
export interface RegistryDiscovery extends RegistryFindings {
  readonly outcomes: readonly DiscoveryOutcome[];
}

/** Who offers a capability: configured servers with the tools that do, or else what the registry has. */
export interface CapabilityFindings {
  readonly local: ReadonlyArray<{ readonly server: string; readonly tools: readonly string[] }>;
  /** Asked only when no configured server offers it. */
  readonly registry?: RegistryFindings;
  /** Why the registry could not be asked. */
  readonly problem?: string;
}

/** A server of the registry on its way into the config: what would be written, and what is still to be said. */
export interface RegistryPlan {
  readonly candidate: RegistryCandidate;
  /** The id it would get. */
  readonly id: string;
  readonly ways: readonly Launch[];
}

/** What a plan is made with. */
export interface RegistryPlanOptions {
  readonly id?: string;
  readonly answers?: LaunchAnswers;
  readonly way?: string;
}

/** How often the registry is asked for one capability. */
const MOST_QUESTIONS = 3;

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

/** The verbs that look for servers nobody has configured yet (REG-9). */
export function findingVerbs(
  core: Core,
): Pick<
  Gateway,
  'searchRegistry' | 'discoverFromRegistry' | 'findServersForCapability' | 'planRegistryServer' | 'addServer'
> {
  const client = async (): Promise<RegistryClient> => {
    if (core.deps.openRegistry) return core.deps.openRegistry(core.loaded.config.registry);
    throw new ToolscoutError('REGISTRY_UNAVAILABLE', 'This toolscout was opened without a registry.');
  };

  const configuredAs = (entries: readonly ServerEntry[]): string | undefined =>
    Object.entries(core.loaded.config.servers).find(([, own]) =>
      entries.some((entry) => isSameServer(own, entry)),
    )?.[0];

  const candidateOf = async (server: RegistryServer, options: RegistryPlanOptions = {}): Promise<RegistryPlan> => {
    const { planLaunch, planLaunches } = await import('../registry/index.js');
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
    for (const word of words.slice(0, MOST_QUESTIONS)) {
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

  return {
    searchRegistry: (query, options) => search(query, options),

    async discoverFromRegistry(query) {
      await core.filled();
      const findings = await search(query);
      const ids = new Set(findings.servers.flatMap(({ server }) => (server === undefined ? [] : [server])));
      const servers = [...ids].map((id) => core.catalog.server(id)).filter(isUsable);
      const parallel = core.loaded.config.maxParallelDiscoveries;
      return { ...findings, outcomes: await core.learner.learnAll(servers, { parallel }) };
    },

    async findServersForCapability(capability) {
      await core.filled();
      const local = [...core.catalog.servers.values()].filter(isUsable).flatMap(({ id }) => {
        const tools = core.catalog.index
          .tools(id)
          .filter((tool) => tool.status === 'enabled' && offers(tool, capability))
          .map((tool) => tool.name);
        return tools.length === 0 ? [] : [{ server: id, tools }];
      });
      if (local.length > 0) return { local };
      try {
        return { local, registry: await searchWords([...new Set(wordsOf(capability))]) };
      } catch (thrown) {
        return { local, problem: core.hide(messageOf(thrown)) };
      }
    },

    async planRegistryServer(name, options = {}) {
      const found = await (await client()).find(name);
      return candidateOf(found, options);
    },

    async addServer(id, entry) {
      if (!isServerId(id)) {
        throw new ToolscoutError(
          'INVALID_REQUEST',
          `"${printable(id)}" cannot be an id; use "${suggestServerId(id)}".`,
        );
      }
      if (Object.hasOwn(core.loaded.config.servers, id) && core.loaded.path !== undefined) {
        throw new ToolscoutError('INVALID_REQUEST', `There is a server "${id}" already; choose another id.`);
      }
      const { writeServer } = core.deps;
      if (!writeServer)
        throw new ToolscoutError('CONFIGURATION_ERROR', 'This toolscout has no config file to write to.');
      const act = { kind: 'server-add', principal: 'local', server: id } as const;
      try {
        const path = await writeServer(id, entry, core.loaded.path);
        await core.deps.audit.recordNow({
          ...act,
          outcome: 'success',
          detail: { path, command: entry.command ?? 'url' },
        });
        return { path };
      } catch (thrown) {
        const error = toToolscoutError(thrown, 'CONFIGURATION_ERROR');
        await core.deps.audit.recordNow({ ...act, outcome: 'failure', code: error.code });
        throw error;
      }
    },
  };
}
