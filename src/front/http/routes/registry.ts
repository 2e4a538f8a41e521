import * as z from 'zod';
import type { Gateway, Registry } from '../../../gateway/index.js';
import type { Clock } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Reply, type Route } from '../route.js';
import { Problem, Snapshot } from '../openapi/schemas.js';

/** A snapshot that needs only to be sent. */
interface Ready {
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** The whole snapshot, made once for every change instead of once for every request. */
interface Press {
  /** What is good enough to be compared with what a client has. */
  tagged(): Ready;
  give(): Ready;
}

/** Times of checks are in the bytes but not in the hash; they are never older than this. */
const BYTES_GOOD_FOR_MS = 1000;
/** What a server once said expires without anything happening; then the hash is another by then at the latest. */
const TAG_GOOD_FOR_MS = 5000;

function createPress(registry: Registry, clock: Clock): Press {
  let ready: (Ready & { readonly at: number }) | undefined;
  const forget = (): void => {
    ready = undefined;
  };
  registry.onChange(forget);
  registry.onProbe(forget);
  const younger = (ms: number): Ready => {
    const now = clock.monotonic();
    if (ready && now - ready.at < ms) return ready;
    ready = { ...print(registry.snapshot()), at: now };
    return ready;
  };
  return { tagged: () => younger(TAG_GOOD_FOR_MS), give: () => younger(BYTES_GOOD_FOR_MS) };
}

function print(snapshot: ReturnType<Registry['snapshot']>): Ready {
  const etag = `W/"${snapshot.registry_hash}"`;
  return { etag, headers: { etag, 'cache-control': 'no-cache' }, bytes: Buffer.from(JSON.stringify(snapshot)) };
}

/** What a client gets who may have it already. */
function answer({ tagged, give }: Press, request: Request, reply: Reply): Response {
  const tags = request.headers.get('if-none-match');
  if (tags !== null) {
    const { etag, headers } = tagged();
    if (isKnown(tags, etag)) return reply(null, { status: 304, headers });
  }
  const { headers, bytes } = give();
  return reply(bytes, { headers });
}

/** Whether one of the tags that a client has is this one; weak or not makes no difference here. */
function isKnown(header: string, etag: string): boolean {
  if (header === etag || header.trim() === '*') return true;
  const bare = etag.slice(2);
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === bare);
}

const FILTERS = ['alive', 'capability', 'tag', 'q'];
const WORDS = ['true', '1', 'yes', 'on', 'false', '0', 'no', 'off'];
const SUMMARY = 'All servers and their health: a deterministic snapshot';

/** The registry, where there is one to be asked (CFG-7). */
export async function registryOf(gateway: Gateway): Promise<Registry> {
  const registry = await gateway.registry.get();
  if (registry?.enabled) return registry;
  throw new ToolscoutError('NOT_FOUND', 'The registry is switched off (TOOLS_REGISTRY_ENABLED).', {
    suggestion: 'Unset TOOLS_REGISTRY_ENABLED, or set it to true, and start toolscout again.',
  });
}

/** The registry of servers (REG-1…4). */
export function registryRoutes(clock: Clock): Route[] {
  // Where the whole snapshot is asked for again it is answered at once, without a look at anything else.
  const presses = new WeakMap<Gateway | Registry, Press>();

  const pressOf = async (gateway: Gateway): Promise<Press> => {
    const registry = await registryOf(gateway);
    // One for each registry: every caller has a gateway of their own, and a press listens for ever.
    const press = presses.get(registry) ?? createPress(registry, clock);
    presses.set(registry, press);
    presses.set(gateway, press);
    return press;
  };

  return [
    route({
      id: 'listRegistry',
      group: 'registry',
      method: 'GET',
      path: '/v1/tools',
      summary: SUMMARY,
      scope: 'read',
      query: z.object({
        // What each may hold is decided where the snapshot is filtered, for every front alike.
        alive: z
          .string()
          .meta({ enum: WORDS, description: 'Only servers that are alive, or that are not.' })
          .optional(),
        capability: z.array(z.string()).meta({ description: 'Only servers that offer all of these.' }).optional(),
        tag: z.array(z.string()).meta({ description: 'Only servers that have all of these.' }).optional(),
        q: z.string().meta({ description: 'Part of the name or the id.' }).optional(),
      }),
      responses: {
        200: {
          description: 'The servers, by name.',
          content: { 'application/json': Snapshot },
          headers: { ETag: 'The registry_hash, weak.' },
        },
        304: { description: 'Nothing has changed since the ETag in If-None-Match.' },
        404: { description: 'The registry is switched off.', content: { [PROBLEM_TYPE]: Problem } },
        424: { description: 'There is no inventory and no server.', content: { [PROBLEM_TYPE]: Problem } },
        503: { description: 'Nothing was checked yet.', content: { [PROBLEM_TYPE]: Problem } },
      },
      handle({ request, address, principal, gateway, reply }) {
        const isPlain = address.isBare || !FILTERS.some((name) => address.url.searchParams.has(name));
        if (principal.servers !== undefined || !isPlain) {
          return registryOf(gateway).then((registry) => {
            const made = print(registry.snapshot(address.url.searchParams));
            return answer({ tagged: () => made, give: () => made }, request, reply);
          });
        }
        const press = presses.get(gateway);
        return press ? answer(press, request, reply) : pressOf(gateway).then((made) => answer(made, request, reply));
      },
    }),
  ];
}
