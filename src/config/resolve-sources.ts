import * as z from 'zod';
import { isObject } from '../kernel/json.js';
import { READ_ONCE, ServerEntry, SourceConfig } from '../model/config.js';
import { resolveConfig, type LoadedConfig, type ResolveOptions } from './resolve.js';
import type { Place } from './sources/importer.js';
import { launchOf, type Taken } from './sources/merge.js';
import type { SourceMemory } from './sources/source-memory.js';
import { rawField } from './raw-field.js';

/** Where the files of clients are, and everything else a config is resolved with. */
export interface SourcedOptions extends ResolveOptions {
  readonly place: Place;
  /** What the files of clients held when they were last read. */
  readonly memory?: SourceMemory;
}

/** The sources of a raw config; none when they are not valid, which resolving will say. */
export function sourcesOf(raw: unknown): SourceConfig[] {
  const parsed = z.array(SourceConfig).safeParse(rawField(raw, 'sources'), READ_ONCE);
  return parsed.success ? parsed.data : [];
}

/** Ids and launches of the servers that a raw config itself has. */
export function ownServers(raw: unknown): Taken {
  const servers = rawField(raw, 'servers');
  const entries = isObject(servers) ? Object.entries(servers) : [];
  const launches = entries.flatMap(([id, entry]): Array<[string, string]> => {
    const parsed = ServerEntry.safeParse(entry, READ_ONCE);
    return parsed.success ? [[launchOf(parsed.data), id]] : [];
  });
  return { ids: new Set(entries.map(([id]) => id)), launches: new Map(launches) };
}

/**
 * Turns a raw config into a loaded one, servers of its sources included (CFG-5). The importers are loaded only when
 * a config has sources.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` whose `problems` are all there are.
 */
export async function resolveWithSources(raw: unknown, options: SourcedOptions): Promise<LoadedConfig> {
  const { place, memory, ...rest } = options;
  const sources = sourcesOf(raw);
  if (sources.length === 0) return resolveConfig(raw, rest);
  const { importSources } = await import('./sources/import-sources.js');
  const base = options.directory ?? place.home;
  return resolveConfig(raw, {
    ...rest,
    imported: await importSources(sources, { place, base, taken: ownServers(raw), memory }),
  });
}
