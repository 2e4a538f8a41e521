import type { Problem } from '../../kernel/errors.js';
import type { ImportedServer } from '../../model/source.js';

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
