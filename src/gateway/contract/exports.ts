import type { ExportFormat, RtfsDialect } from '../../export/index.js';

/** What is exported, in which form, and where to (SCH-8). */
export interface ExportOptions {
  readonly format: ExportFormat;
  /**
   * For RTFS: one folder for all files. Without one, what is approved goes to `approved/` and what waits to `pending/`,
   * which is `exportDirectory` (SEC-9).
   */
  readonly directory?: string;
  /** For all other formats: the file to write; without one the text is the answer. */
  readonly file?: string;
  /** All usable servers by default. */
  readonly servers?: readonly string[];
  /** For RTFS; `rtfsDialect` of the configuration by default. */
  readonly dialect?: RtfsDialect;
}

/** What became of an export. */
export interface ExportReport {
  readonly format: ExportFormat;
  readonly servers: number;
  readonly tools: number;
  readonly directory?: string;
  /** For RTFS: the folder that holds the approved files, where there are any. */
  readonly approved?: string;
  readonly file?: string;
  /** Files that are new or changed, and files that held the same text before. */
  readonly written?: number;
  readonly unchanged?: number;
  /** The export itself, where no file was named. */
  readonly text?: string;
  /** Servers whose tools are not known and therefore not in it. */
  readonly failed: ReadonlyArray<{ readonly server: string; readonly reason: string }>;
}

/** Files that a person reviews before a server is approved. */
export interface Review {
  readonly directory: string;
  /** Names of the files in it. */
  readonly files: readonly string[];
}
