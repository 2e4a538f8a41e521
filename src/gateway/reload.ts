import type { Approvals } from '../approvals/index.js';
import { diffServers, type LoadedConfig } from '../config/index.js';
import type { ToolCache } from '../discover/index.js';
import { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Config } from '../model/config.js';
import type { Server } from '../model/server.js';
import type { KnowledgeSource } from '../search/index.js';
import { createCatalog, type Catalog } from '../catalog/catalog.js';
import { isUsable } from '../catalog/catalog.js';

/** What a reload changed. */
export interface ReloadReport extends JsonObject {
  /** False when the new configuration equals the old one. */
  changed: boolean;
  added: string[];
  removed: string[];
  reconnected: string[];
  unchanged: number;
  /** Fields that differ from what toolscout was started with and will hold after a new start, see {@link READ_AT_START}. */
  needsRestart: string[];
}

const AT_START = {
  store: ({ store }) => store,
  'http.host': ({ http }) => http.host,
  'http.port': ({ http }) => http.port,
  'http.publicUrl': ({ http }) => http.publicUrl,
  'http.allowedHosts': ({ http }) => http.allowedHosts,
  'http.allowedOrigins': ({ http }) => http.allowedOrigins,
} as const satisfies Record<string, (config: Config) => string | number | readonly string[] | undefined>;

/** The fields that are read once, when toolscout starts; a reload takes over all others. */
export const READ_AT_START: readonly string[] = Object.keys(AT_START);

function needsRestart(started: Config, now: Config): string[] {
  return Object.entries(AT_START)
    .filter(([, read]) => JSON.stringify(read(started)) !== JSON.stringify(read(now)))
    .map(([name]) => name);
}

/** The next state, complete before anything is swapped. */
export interface NextState {
  readonly loaded: LoadedConfig;
  readonly catalog: Catalog;
  readonly report: ReloadReport;
  /** Servers whose past no longer counts. */
  readonly forgotten: readonly string[];
  /** Servers whose tools must be learned. */
  readonly due: readonly Server[];
}

function fileIsGone(path: string): ToolscoutError {
  return new ToolscoutError(
    'CONFIGURATION_ERROR',
    `The config file ${path} does not exist any more; the last loaded config stays in force.`,
    {
      suggestion: 'Restore the file, or restart toolscout without it.',
      problems: [{ path: '', message: `The config file ${path} does not exist any more` }],
    },
  );
}

function waitsForApproval(path: string): ToolscoutError {
  return new ToolscoutError(
    'CONFIGURATION_ERROR',
    `The config file ${path} changed after its approval; the approved version stays in force.`,
    { suggestion: 'Review it, then run: toolscout config approve' },
  );
}

/**
 * Builds the next state from a configuration that is read and validated first: if anything in it is
 * wrong this throws and the caller's state has not been touched (CFG-6).
 */
export async function rebuild(now: {
  /** What toolscout was started with. */
  readonly started: LoadedConfig;
  readonly loaded: LoadedConfig;
  readonly catalog: Catalog;
  readonly load: () => Promise<LoadedConfig>;
  /** The watched file is gone: no other one takes its place unless a person asks for a reload. */
  readonly isGone?: boolean | undefined;
  readonly cache: ToolCache;
  readonly knowledge?: KnowledgeSource;
  readonly approvals: Approvals;
}): Promise<NextState> {
  if (now.isGone && now.loaded.path !== undefined) throw fileIsGone(now.loaded.path);
  const loaded = await now.load();
  if (loaded.pending !== undefined && loaded.pending.path === now.loaded.path)
    throw waitsForApproval(loaded.pending.path);
  // Rules went with the file: what it forbade must not come back because a file was moved or is being replaced.
  if (now.loaded.path !== undefined && loaded.path === undefined) throw fileIsGone(now.loaded.path);
  const diff = diffServers(now.loaded.servers, loaded.servers);
  const catalog = createCatalog(loaded.config, loaded.servers, now.knowledge, now.approvals);
  const mayServe = ({ id }: Server): boolean => isUsable(catalog.server(id));

  for (const server of diff.unchanged) {
    const list = now.catalog.list(server.id);
    if (list && mayServe(server)) await catalog.put(server, list);
  }
  const renewed = [...diff.added, ...diff.changed];
  const cached = loaded.config.cache.enabled ? await now.cache.readAll(renewed) : new Map();
  for (const server of renewed) {
    const list = cached.get(server.id);
    if (list && mayServe(server)) await catalog.put(server, list);
  }

  const ids = (servers: readonly Server[]): string[] => servers.map((server) => server.id).toSorted();
  return {
    loaded,
    catalog,
    forgotten: ids([...diff.removed, ...diff.changed]),
    due: loaded.servers.filter((server) => mayServe(server) && !catalog.list(server.id)),
    report: {
      changed: loaded.hash !== now.loaded.hash,
      added: ids(diff.added),
      removed: ids(diff.removed),
      reconnected: ids(diff.changed),
      unchanged: diff.unchanged.length,
      needsRestart: needsRestart(now.started.config, loaded.config),
    },
  };
}
