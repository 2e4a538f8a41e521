import { importSources } from '../../src/clients/import-sources.js';
import { loadConfig as load, type LoadOptions } from '../../src/config/load.js';
import { resolveWithSources as resolve, type SourcedOptions } from '../../src/config/resolve/resolve-sources.js';

/** Loads a config as the app does: with the importers of all clients. */
export function loadConfig(options: Omit<LoadOptions, 'importSources'>) {
  return load({ ...options, importSources });
}

/** Resolves a config as the app does: with the importers of all clients. */
export function resolveWithSources(raw: unknown, options: Omit<SourcedOptions, 'importSources'>) {
  return resolve(raw, { ...options, importSources });
}
