import type { DiscoveryProgress } from '../../catalog/learning/learner.js';
import type { RateLimitConfig, RetryConfig, ServerEntry } from '../../model/config.js';
import type { AskOptions } from './options.js';

/** How one discovery is made; what is left out is as the configuration has it (DISC-2). */
export interface DiscoveryOptions {
  /** Call harmless tools once to infer what they answer (DISC-9). */
  readonly introspectOutputSchemas?: boolean;
  /** Infer when an output schema is needed, not now. */
  readonly lazyOutputSchemas?: boolean;
  /** A list that is known and not old is good enough; with `stale` an old one too. */
  readonly useCache?: boolean | 'stale';
  /** Put the manifests of enabled tools into the marketplace. */
  readonly registerInMarketplace?: boolean;
  /** Write the tools as RTFS files. */
  readonly exportToRtfs?: boolean;
  /** The folder for tools that wait for approval; approved ones go to `approved/` beside it. */
  readonly exportDirectory?: string;
  /** Headers for remote servers; they come before every other credential and are sent to no other host (CONN-6). */
  readonly authHeaders?: Readonly<Record<string, string>>;
  readonly retryPolicy?: Partial<RetryConfig>;
  readonly rateLimit?: Partial<RateLimitConfig> | false;
  /** The most servers that are asked at once. */
  readonly maxParallelDiscoveries?: number;
  /** A server that takes long does not count toward the limit, so that more than the limit may run. */
  readonly lendSlots?: boolean;
}

/** How several servers are learned again. */
export interface DiscoverOptions extends AskOptions, DiscoveryOptions {
  readonly onProgress?: (progress: DiscoveryProgress) => void;
  /** Leaves out servers whose list is known, however old. */
  readonly onlyUnknown?: boolean;
}

/** A server as it would stand in a config, under an `id` or a `name`. It is asked, not added to the configuration. */
export type ServerConfig = ServerEntry & ({ readonly id: string } | { readonly name: string });

/** What is discovered: a server of the configuration by its id, or one that is described. */
export type DiscoveryTarget = string | ServerConfig;

/** The id of what is discovered. */
export function idOfTarget(target: DiscoveryTarget): string {
  if (typeof target === 'string') return target;
  return 'id' in target ? target.id : target.name;
}
