import { isDeepStrictEqual } from 'node:util';
import type { Access } from '../../connect/index.js';
import { listBesides, listTools, type LeftOut } from '../../discover/index.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import type { LearnedList, ServerFacts } from '../catalog.js';

/** Everything a server listed, and what it said of itself. */
export interface Lists {
  readonly list: Awaited<ReturnType<typeof listTools>>;
  readonly facts: ServerFacts;
}

type Bad = Lists['list']['bad'][number];

/** What reading the lists of a server needs. */
export interface ReadListsDeps {
  readonly access: Access;
  /** Called for a list besides the tools that a server announced and did not return. */
  readonly onPartial?: (server: Server, method: string, reason: string) => void;
  /** Called for an entry besides the tools that could not be kept. */
  readonly onDropped?: (server: Server, method: string, bad: Bad) => void;
  /** Told when the tools were listed on a connection. */
  readonly onListed?: (upstream: Upstream) => void;
  /** The id of the connection on which the server announced a change, when that is why it is asked. */
  readonly announcedOn?: string;
  /** The id of the connection of the call that is why it is asked: the list is merely old. */
  readonly calledOn?: string;
  /** What is known of it already. */
  readonly known?: LearnedList;
}

/** Both lists; where an entry stands in both, the later one. */
function union(
  base: readonly JsonObject[] | undefined,
  more: readonly JsonObject[] | undefined,
  key: string,
): JsonObject[] {
  const entries = new Map((base ?? []).map((entry) => [entry[key], entry]));
  for (const entry of more ?? []) entries.set(entry[key], entry);
  return [...entries.values()];
}

function unite(base: Lists, more: Lists): Lists {
  const { resources, resourceTemplates, prompts, leftOut } = more.facts;
  return {
    list: { ...base.list, items: union(base.list.items, more.list.items, 'name'), bad: more.list.bad },
    facts: {
      ...base.facts,
      leftOut,
      resources: union(base.facts.resources, resources, 'uri'),
      resourceTemplates: union(base.facts.resourceTemplates, resourceTemplates, 'uriTemplate'),
      prompts: union(base.facts.prompts, prompts, 'name'),
    },
  };
}

/** What agents get to see of a server: all of it is trusted as it is known (A39). */
const SHOWN = ['info', 'instructions', 'prompts', 'resources', 'resourceTemplates'] as const;

/** Whether a server says the same as what is known of it. */
function saysSame({ list, facts }: Lists, known: LearnedList): boolean {
  const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a ?? [], b ?? []);
  return isSame(list.items, known.items) && SHOWN.every((name) => isSame(facts[name], known[name]));
}

/**
 * Requests all lists of a server. A change that was announced on the connection of one host may be visible on that
 * connection alone, because each has a process or a session of its own. So the list is requested there, and added to
 * the shared list; a host with fewer capabilities sees fewer entries, so nothing that is missing there is removed.
 */
export async function readLists(server: Server, deps: ReadListsDeps, signal: AbortSignal): Promise<Lists> {
  const { access, announcedOn, known } = deps;
  const { pace, again } = access;
  const ask = async (upstream: Upstream): Promise<Lists> => {
    const list = await listTools(upstream, { signal, timeoutMs: server.timeoutMs, pace });
    deps.onListed?.(upstream);
    const { info, instructions, era, capabilities } = upstream;
    const leftOut: LeftOut[] = [];
    const besides = await listBesides(upstream, {
      signal,
      timeoutMs: server.timeoutMs,
      pace,
      onFailed: (method, reason) => deps.onPartial?.(server, method, reason),
      onDropped(method, bad) {
        leftOut.push({ method, ...bad });
        deps.onDropped?.(server, method, bad);
      },
      // The tools wait for these lists, so one that timed out is not waited for again.
      retry: (task) => again(task, ({ code }) => !upstream.closed && code !== 'TOOL_EXECUTION_TIMEOUT'),
    });
    return { list, facts: { info, instructions, era, capabilities, leftOut, ...besides } };
  };
  const read = (on?: string): Promise<Lists> => access.use(ask, { brief: true, on });
  // Starting one more process for the same list would be a waste: the running one is asked first.
  const calledOn = announcedOn === undefined && known && server.transport.type === 'stdio' ? deps.calledOn : undefined;
  if (calledOn !== undefined && access.isOpen(calledOn)) {
    const there = await read(calledOn);
    if (saysSame(there, known!)) return { list: there.list, facts: known! };
  }
  if (announcedOn === undefined || !access.isOpen(announcedOn)) return read();
  const there = await read(announcedOn);
  // Another process would not know more, so none is started.
  const isProcess = server.transport.type === 'stdio';
  if (!isProcess) return unite(await read(), there);
  return known ? unite({ list: { items: [...known.items], bad: [] }, facts: known }, there) : there;
}
