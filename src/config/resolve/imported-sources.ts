import type { Problem } from '../../kernel/errors.js';
import type { SourceConfig } from '../../model/config.js';
import type { ImportedServer } from '../../model/source.js';
import type { ClientEnvironment } from './client-environment.js';
import type { Taken } from './merge-sources.js';
import type { SourceMemory } from './source-memory.js';

/** Everything the sources of a config bring. */
export interface ImportedSources {
  readonly servers: ReadonlyArray<{ readonly server: ImportedServer; readonly problem?: string }>;
  readonly warnings: readonly Problem[];
  /** Every file that was looked for, whether it is there or not. */
  readonly files: readonly string[];
  /** Files that cannot be read now; what they held before is used, for the reason given. */
  readonly kept: readonly Problem[];
}

/** Nothing at all. */
export const NO_SOURCES: ImportedSources = { servers: [], warnings: [], files: [], kept: [] };

/** How the sources of a config are read. */
export interface ImportOptions {
  readonly place: ClientEnvironment;
  readonly base: string;
  readonly taken: Taken;
  /** False: files with variables are not read. */
  readonly envFiles?: boolean;
  /** What the files held when they were last read; without it a file that cannot be read brings nothing. */
  readonly memory?: SourceMemory;
}

/** Reads the files of clients that a config names; `clients/import-sources.ts` does it, and the app hands it in. */
export type ImportSources = (sources: readonly SourceConfig[], options: ImportOptions) => Promise<ImportedSources>;
