import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Server } from '../model/server.js';
import type { ServerInfo } from '../model/upstream.js';
import type { Strategy } from './fallback/strategies.js';
import type { Listed } from './list.js';
import type { LeftOut } from './salvage.js';

/** What a server said of itself when it was listed. */
export interface UpstreamFacts {
  readonly info?: ServerInfo;
  readonly instructions?: string;
  readonly era?: 'legacy' | 'modern';
  /** What it can do, as it declared it. */
  readonly capabilities?: JsonObject;
  readonly resources?: readonly JsonObject[];
  readonly resourceTemplates?: readonly JsonObject[];
  readonly prompts?: readonly JsonObject[];
  /** Entries that could not be kept, the first of them, of every list. */
  readonly leftOut?: readonly LeftOut[];
  /** The fallback strategy that found the list, when there was no handshake (DISC-6). Stored and public under this name. */
  readonly rung?: Strategy;
}

/** Changes while the list is in use. */
export interface Validity {
  /** Its server announced a change, or it was cleared from the cache: it must be fetched again whatever its age. */
  readonly isInvalid: boolean;
}

/** A list that was learned before. */
export interface CachedList extends UpstreamFacts {
  readonly items: readonly JsonObject[];
  /** How many entries of the list were dropped as malformed. */
  readonly dropped: number;
  /** Wall-clock time at which the server gave this list. */
  readonly learnedAt: number;
  /** How long its server lets it be kept; `undefined` when it did not say. */
  readonly freshMs?: number | undefined;
  readonly validity: Validity;
}

const FORMAT = 1;

/** A list as it is kept, in memory and in the store. */
export interface Remembered extends Omit<CachedList, 'freshMs' | 'validity'> {
  readonly server: string;
  /** The process that stored it; lists of older versions name none. */
  readonly writer?: string;
  readonly invalidated: boolean;
  readonly ttlMs: number | undefined;
  readonly cacheScope: Listed['cacheScope'];
}

/** How the keys of a server's lists begin; another server's may begin alike. */
export function keyPrefix(serverId: string): string {
  return `tools_${serverId.replace(/[^A-Za-z0-9.-]/g, '_').slice(0, 64)}_`;
}

/** The hash keeps apart what looks alike when sanitised, and one credential's tools from another's (A22). */
export function keyOf(server: Server, capabilities: string): string {
  return keyPrefix(server.id) + sha256(`${server.id}\0${server.digest}\0${capabilities}`).slice(0, 32);
}

/** The body is text with its own checksum, so that no store can damage or reorder it unnoticed (A23). */
export function pack(list: Remembered): JsonObject {
  const { invalidated, server, ...rest } = list;
  const body = JSON.stringify(rest);
  return { format: FORMAT, server, sum: sha256(body), stale: invalidated, body };
}

const areObjects = (value: unknown): boolean => Array.isArray(value) && value.every((item) => isObject(item));

/** A right checksum says nothing about the shape: any process of the user can write a row (A48). */
function isWhole(body: unknown): boolean {
  if (!isObject(body)) return false;
  const { items, learnedAt, dropped, info, instructions, capabilities, resources, resourceTemplates, prompts } = body;
  const areNamed = Array.isArray(items) && items.every((item) => isObject(item) && typeof item['name'] === 'string');
  const isInfo = info === undefined || (isObject(info) && typeof info['name'] === 'string');
  const isSaid = instructions === undefined || typeof instructions === 'string';
  const isAble = capabilities === undefined || isObject(capabilities);
  const extras = [resources, resourceTemplates, prompts].every((list) => list === undefined || areObjects(list));
  return (
    areNamed && typeof learnedAt === 'number' && typeof dropped === 'number' && isInfo && isSaid && isAble && extras
  );
}

/** What was packed for a server, or why it is not that. */
export function unpack(value: JsonValue, serverId: string): Remembered | { readonly reason: string } {
  if (!isObject(value) || typeof value.body !== 'string') return { reason: 'it is not a list' };
  if (value.format !== FORMAT) return { reason: 'it was written by another version' };
  if (value.server !== serverId) return { reason: 'it belongs to another server' };
  if (value.sum !== sha256(value.body)) return { reason: 'its checksum is wrong' };
  const body = JSON.parse(value.body) as Omit<Remembered, 'server' | 'invalidated'>;
  if (!isWhole(body)) return { reason: 'it is not a list' };
  return { ...body, server: serverId, invalidated: value.stale === true };
}
