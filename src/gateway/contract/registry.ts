import type { Launch, LaunchAnswers, RegistryAnswer, RegistryServer } from '../../model/registry-server.js';
import type { Tool } from '../../model/tool.js';
import type { DiscoveryOutcome } from '../../catalog/learning/learner.js';

/** A server of the registry, and where it stands with us. It is never started because a registry names it (SEC-9). */
export interface RegistryCandidate {
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version: string;
  readonly status: RegistryServer['status'];
  /** `configured`: the user has a server that runs the same package or URL. `pending`: it needs a decision. */
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

/** One server that was found in the registry, and what it offers. */
export interface RegistryFind {
  /** Its name in the registry. */
  readonly name: string;
  /** Its id here: the configured server, or the one that waits for approval now. Absent when it cannot be registered. */
  readonly server?: string;
  readonly state: 'configured' | 'pending';
  /** Its tools; those of a server that waits for approval are `pending` and cannot be called. */
  readonly tools: readonly Tool[];
  /** Why there are no tools: a local program is not started before it is approved, for example. */
  readonly reason?: string;
}

/** What was found in the registry, and what those servers offer. */
export interface RegistryDiscovery extends RegistryFindings {
  readonly found: readonly RegistryFind[];
  /** What became of learning the servers that are configured already. */
  readonly outcomes: readonly DiscoveryOutcome[];
}

/** Who offers a capability: configured servers with the tools that do, or else what the registry has. */
export interface CapabilityFindings {
  readonly local: ReadonlyArray<{
    readonly server: string;
    readonly tools: readonly string[];
    /** The server is declared to offer it, or said so when it was probed. */
    readonly declared: boolean;
  }>;
  /** Servers whose tools are not known, so that they may offer it as well. */
  readonly unlearned: readonly string[];
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
