import * as z from 'zod';
import type { Gateway, Registry } from '../../../gateway/index.js';
import type { Clock } from '../../../kernel/clock.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { PROBLEM_TYPE } from '../problem.js';
import { route, type Route } from '../route.js';
import { Problem, Snapshot } from '../schemas.js';

interface Ready {
  readonly etag: string;
  readonly bytes: Uint8Array;
}

/** Times of checks are in the bytes but not in the hash; they are never older than this. */
const GOOD_FOR_MS = 1000;

/** The bytes of the whole snapshot, made once for every change instead of once for every request. */
function createPress(registry: Registry, clock: Clock): () => Ready {
  let ready: (Ready & { readonly at: number }) | undefined;
  const forget = (): void => {
    ready = undefined;
  };
  registry.onChange(forget);
  registry.onProbe(forget);
  return () => {
    const now = clock.monotonic();
    if (ready && now - ready.at < GOOD_FOR_MS) return ready;
    const snapshot = registry.snapshot();
    const bytes = Buffer.from(JSON.stringify(snapshot));
    ready = { etag: etagOf(snapshot.registry_hash), bytes, at: now };
    return ready;
  };
}

const etagOf = (hash: string): string => `W/"${hash}"`;

/** Whether one of the tags that a client has is this one; weak or not makes no difference here. */
function isKnown(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header === etag || header.trim() === '*') return true;
  const bare = etag.slice(2);
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === bare);
}

const FILTERS = ['alive', 'capability', 'tag', 'q'];
const WORDS = ['true', '1', 'yes', 'on', 'false', '0', 'no', 'off'];
const SUMMARY = 'All servers and their health: a deterministic snapshot';

/** The registry, where there is one to be asked (CFG-7). */
export async function registryOf(gateway: Gateway): Promise<Registry> {
  const registry = await gateway.registry();
  if (registry?.enabled) return registry;
  throw new ToolscoutError('NOT_FOUND', 'The registry is switched off.', { suggestion: 'Set TOOLS_REGISTRY_ENABLED.' });
}

/** The registry of servers (REG-1…4). */
export function registryRoutes(clock: Clock): Route[] {
  const presses = new WeakMap<Registry, () => Ready>();

  const pressOf = (registry: Registry): (() => Ready) => {
    const press = presses.get(registry) ?? createPress(registry, clock);
    presses.set(registry, press);
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
      async handle({ request, url, principal, gateway, reply }) {
        const registry = await registryOf(gateway);
        const isWhole = principal.servers === undefined && !FILTERS.some((name) => url.searchParams.has(name));
        const ready = isWhole ? pressOf(registry)() : narrowed(registry, url.searchParams);
        const headers = { etag: ready.etag, 'cache-control': 'no-cache' };
        if (isKnown(request.headers.get('if-none-match'), ready.etag)) return reply(null, { status: 304, headers });
        return reply(ready.bytes, { headers });
      },
    }),
  ];
}

function narrowed(registry: Registry, query: URLSearchParams): Ready {
  const snapshot = registry.snapshot(query);
  return { etag: etagOf(snapshot.registry_hash), bytes: Buffer.from(JSON.stringify(snapshot)) };
}
