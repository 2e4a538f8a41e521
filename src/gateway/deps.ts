import type { JsonObject } from '../kernel/json.js';
import type { Lookup } from '../net/public-address.js';
import type { Approvals, Marketplace, Promotion, Registrations } from '../approvals/index.js';
import type { Audit } from '../audit/index.js';
import type { LoadedConfig } from '../config/index.js';
import type { OpenSession, Pool, SignIns, Tap } from '../connect/index.js';
import type { ToolCache } from '../discover/index.js';
import type { Clock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { Cleaner, PackagePlaces } from '../lock/index.js';
import type { Lineage } from '../protocol/lineage.js';
import type { Log } from '../kernel/log.js';
import type { SecretMask } from '../kernel/secrets.js';
import type { Config, ServerEntry } from '../model/config.js';
import type { ConfigChanges } from '../model/config-change.js';
import type { ImportPlan } from '../model/source.js';
import type { Memory } from './pressure.js';
import type { LabelFile } from './contract/saved.js';
import type { ImportRequest } from './contract/config-change.js';
import type { Server } from '../model/server.js';
import type { Store } from '../model/store.js';
import type { Upstream } from '../model/upstream.js';
import type { Redaction } from '../redact/index.js';
import type { InventoryItem, LocalState, Registry, RegistryClient } from '../registry/index.js';
import type { KnowledgeSource } from '../search/index.js';
import type { LoadedEncoder } from '../catalog/encoding.js';
import type { Replicas } from '../catalog/replicas.js';
import type { FallbackDeps } from '../catalog/learning/handshake-fallback.js';

/** Opens a connection outside of the pool; a tap gets every message on it. */
type OpenOwnSession = (server: Server, signal: AbortSignal, options?: { readonly tap?: Tap }) => Promise<Upstream>;

/** What the gateway is made of; `app/open-gateway.ts` hands it in. */
export interface GatewayDeps {
  readonly loaded: LoadedConfig;
  readonly loadConfig: () => Promise<LoadedConfig>;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: SecretMask;
  /** Gets the rules of the configuration in force. */
  readonly redaction: Redaction;
  readonly random: () => number;
  /** The memory of this process; by default as it is. */
  readonly memory?: Memory;
  readonly pool: Pool;
  /** The identity of this toolscout towards others; by default a new one. */
  readonly lineage?: Lineage;
  readonly cache: ToolCache;
  readonly audit: Audit;
  /** Who is trusted with what; by default as the store has it. */
  readonly approvals?: Approvals;
  /** The lock file beside the config; absent when there is no lock (SEC-10). */
  readonly lock?: LockDeps;
  /** Where exported files go when they are approved; without it nothing is exported. */
  readonly promotion?: Promotion;
  /** The other processes over the same state, which share work and limits; by default none. */
  readonly replicas?: Replicas;
  /** The approved manifests; by default as the store has them. */
  readonly marketplace?: Marketplace;
  /** Without it servers are configured and never registered. */
  readonly proposing?: ProposingDeps;
  /** Knowledge of the search besides the words of tools; without it, words alone decide. */
  readonly knowledge?: KnowledgeSource;
  /** Loads the package of a sentence encoder; without it none is used (FIND-8). */
  readonly loadEncoder?: (name: string) => Promise<LoadedEncoder>;
  /** The sign-ins to remote servers; without them no sign-in is possible. */
  readonly signIns?: SignIns;
  /** A client of the registry that the config names; without it nothing is looked for there (REG-9). */
  readonly openRegistry?: (registry: Config['registry']) => Promise<RegistryClient>;
  /** The registry of our own servers and of the inventory (REG-1); optional. */
  readonly openServerRegistry?: (sources: RegistrySources) => Promise<Registry>;
  /** Adds a server to the config file, or to a new one; answers its path. */
  readonly writeServer?: (id: string, entry: ServerEntry, path: string | undefined) => Promise<string>;
  /** Changes of the config file; without it the config cannot be changed. */
  readonly configChanges?: () => Promise<ConfigChanges>;
  /** Where labelled queries are kept; without it none are. */
  readonly labels?: LabelFile;
  /** What an import from other clients on this machine would bring; without it nothing is imported. */
  readonly planImport?: (wish: ImportRequest) => Promise<ImportPlan>;
  /** Without it no server is asked outside of the pool. */
  readonly openSession?: OpenOwnSession;
  /** Has later connections to a server made without a handshake (DISC-6). */
  readonly rememberPlain?: FallbackDeps['rememberPlain'];
  /** Runs the program of a local server without the rules of the protocol. */
  readonly rawRun?: FallbackDeps['rawRun'];
  /** Why the command of a local server cannot be started, as far as the file system shows; nothing is run. */
  readonly missingCommand?: (server: Server) => Promise<string | undefined>;
  /** Ends the gateway, and what else was opened for it before and after that; called once. */
  readonly closing?: (
    close: () => Promise<void>,
    how: { readonly drainMs?: number; readonly graceMs?: number },
  ) => Promise<void>;
  /** Asks a model, where one is configured. */
  readonly fetch?: typeof fetch;
  /** Whether folders of skills are read again when they change. */
  readonly watchSkills?: boolean;
  /** Whether lists that are too old are read again before they are used: for a process that ends soon. */
  readonly refreshFirst?: boolean;
  /** Whether servers never seen before are learned as soon as the gateway starts (CONN-2). */
  readonly learnAtStart: boolean;
}

/** What the lock file needs of the world. */
export interface LockDeps {
  /** Where it is. */
  readonly path: () => string;
  readonly cleaner: Cleaner;
  readonly places: PackagePlaces;
  /** Replaces a file as a whole. */
  readonly write: (path: string, text: string) => Promise<void>;
  /** Has the approvals read it again. */
  readonly load: () => Promise<void>;
}

/** What introspection needs of the world. */
export interface IntrospectionDeps {
  readonly open: OpenSession;
  readonly lookup: Lookup;
}

/** What registering servers needs of the world; `app/open-gateway.ts` hands it in. */
export interface ProposingDeps extends IntrospectionDeps {
  readonly registrations: Registrations;
  /** Makes a server out of what would stand in a config; nothing of the environment is filled in. */
  readonly makeServer: (id: string, entry: JsonObject) => Server;
}

/** What the registry of servers needs from the gateway. */
export interface RegistrySources {
  servers(): LoadedConfig['servers'];
  localState(item: InventoryItem): LocalState | undefined;
}

/** @throws ToolscoutError `INVALID_REQUEST` when the gateway has no way to open connections. */
export function requireOpenSession({ openSession }: Pick<GatewayDeps, 'openSession'>): OpenOwnSession {
  if (openSession) return openSession;
  throw new ToolscoutError('INVALID_REQUEST', 'This gateway was created without a way to open connections.', {
    suggestion: 'Open toolscout with createToolscout(); with createGateway(), set deps.openSession.',
  });
}
