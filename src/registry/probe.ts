import type { Clock } from '../kernel/clock.js';
import {
  ACCEPTED,
  isHealthy,
  MAIN_LOCATION,
  mergeDescriptions,
  WELL_KNOWN_LOCATIONS,
  readDocument,
  type WellKnownLocation,
  type SelfDescription,
} from './documents.js';
import type { InventoryItem } from './inventory.js';
import type { Fetched, FetchOptions, SafeFetch } from '../net/safe-fetch.js';

/** What one check of a server found. */
export interface ProbeResult {
  /** The server's own description; absent without one. */
  readonly description?: SelfDescription;
  readonly alive: boolean;
  /** The vocabulary of REG-6; `null` when nothing failed. */
  readonly reason: string | null;
  readonly latencyMs: number;
  /** Where the description was found; the next check looks only there. */
  readonly locations: readonly string[];
}

/** Checks one server. Never throws, and ends within two timeouts. */
export type Probe = (item: InventoryItem, locations: readonly string[], signal?: AbortSignal) => Promise<ProbeResult>;

/** What a probe is made of. */
export interface ProbeDeps {
  readonly fetch: SafeFetch;
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** Bytes of a well-known document or of a health check. */
const DOCUMENT_BYTES = 256 * 1024;

interface Looked {
  readonly key: string;
  readonly description?: SelfDescription;
  readonly reason: string | null;
}

/** Only those documents are JSON; everything else has `undefined`. */
function parse(body: string): { readonly value?: unknown } | undefined {
  try {
    return { value: JSON.parse(body) as unknown };
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  }
}

/** Refusals of the guard are about the server as a whole and have no prefix. */
function failureOf(answer: Exclude<Fetched, { ok: true }>, prefix: string): string {
  if (answer.problem === 'host_not_allowed') return `host_not_allowed:${answer.host}`;
  return answer.problem === 'invalid_scheme' ? 'invalid_scheme' : `${prefix}_error:${answer.problem}`;
}

function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;
}

/** A probe over a guarded fetch. */
export function createProbe({ fetch, clock, timeoutMs }: ProbeDeps): Probe {
  return async (item, remembered, signal) => {
    const started = clock.monotonic();
    const base = item.baseUrl ?? '';
    const optionsUntil = (end: number): FetchOptions => ({
      headers: { Accept: ACCEPTED, ...item.headers },
      own: item.own,
      maxBytes: DOCUMENT_BYTES,
      timeoutMs: Math.max(1, end - clock.monotonic()),
      signal,
    });

    const look = async (location: WellKnownLocation, end: number): Promise<Looked> => {
      const url = location.url(base, item.mcpUrl);
      if (url === undefined) return { key: location.key, reason: 'well_known_error:absent' };
      const answer = await fetch(url, optionsUntil(end));
      if (!answer.ok) return { key: location.key, reason: failureOf(answer, 'well_known') };
      if (answer.status !== 200) return { key: location.key, reason: `well_known_status:${answer.status}` };
      const parsed = parse(answer.body);
      if (!parsed) return { key: location.key, reason: 'well_known_error:invalid_json' };
      const read = readDocument(location.kind, parsed.value);
      if (!read) return { key: location.key, reason: 'well_known_error:invalid_document' };
      if (!('cardUrl' in read)) return { key: location.key, description: read, reason: null };
      // The headers of a server go to that server only, and so does the question.
      const card = new URL(read.cardUrl, URL.canParse(base) ? base : undefined).href;
      if (!isSameOrigin(card, base)) return { key: location.key, reason: 'well_known_error:foreign_card' };
      return look({ key: location.key, kind: 'card', url: () => card }, end);
    };

    const checkHealth = async (end: number): Promise<string | null> => {
      const answer = await fetch(`${base.replace(/\/+$/, '')}/health`, optionsUntil(end));
      if (!answer.ok) return failureOf(answer, 'health');
      if (answer.status !== 200) return `health_status:${answer.status}`;
      const parsed = parse(answer.body);
      return parsed && !isHealthy(parsed.value) ? 'health_error:unhealthy' : null;
    };

    const first = clock.monotonic() + timeoutMs;
    const known = WELL_KNOWN_LOCATIONS.filter((location) => remembered.includes(location.key));
    const asked = known.length > 0 ? known : WELL_KNOWN_LOCATIONS.filter((location) => location.key === MAIN_LOCATION);
    const [health, ...looked] = await Promise.all([
      checkHealth(first),
      ...asked.map((location) =>
        look(location, first).catch((): Looked => ({ key: location.key, reason: 'well_known_error:invalid_url' })),
      ),
    ]);

    // Who has not answered at all is not asked in seven more locations: a host that hangs must cost one timeout.
    const isSpeaking = health === null || health.startsWith('health_status') || looked.some(hasSpoken);
    const isKnown = known.length > 0 && looked.every((each) => each.reason === null);
    if (isSpeaking && !isKnown && !looked.some(isWhole)) {
      const second = clock.monotonic() + timeoutMs;
      const rest = WELL_KNOWN_LOCATIONS.filter((location) => !asked.includes(location));
      const more = await Promise.all(
        rest.map((location) =>
          look(location, second).catch((): Looked => ({ key: location.key, reason: 'well_known_error:invalid_url' })),
        ),
      );
      looked.push(...more);
    }

    const order = (key: string): number => WELL_KNOWN_LOCATIONS.findIndex((location) => location.key === key);
    const sorted = looked.toSorted((a, b) => order(a.key) - order(b.key));
    const described = sorted.filter((each) => each.description !== undefined);
    const description = mergeDescriptions(described.map((each) => each.description!));
    const main = looked.find((each) => each.key === MAIN_LOCATION) ?? looked[0];
    const locations = described
      .filter(({ description: own }) => own?.name === description?.name || own?.capabilities !== undefined)
      .map((each) => each.key);
    return {
      description,
      alive: health === null,
      reason: description ? health : (main?.reason ?? health),
      latencyMs: clock.monotonic() - started,
      locations,
    };
  };
}

/** A document that leaves nothing to ask for: seven further questions to every server would be a burden on it and on us. */
function isWhole({ description }: Looked): boolean {
  return [description?.name, description?.version, description?.capabilities].every((part) => part !== undefined);
}

function hasSpoken({ reason }: Looked): boolean {
  return reason === null || /^well_known_(status:|error:invalid_|error:foreign_)/.test(reason);
}
