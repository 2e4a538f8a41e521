import type { Clock } from '../../kernel/clock.js';

/** What the files of clients held when they were last read, for files that cannot be read for a moment (CFG-6). */
export interface SourceMemory {
  /** Notes what a file holds; `folder` is where it was found, for a source that is a whole folder. */
  remember(path: string, data: unknown, folder?: string): void;
  /**
   * What a file held when it was last read. A file that is gone or empty is believed to be after a while: its content is
   * then forgotten.
   */
  recall(path: string, state: 'unreadable' | 'absent'): { readonly data: unknown } | undefined;
  /** The files of a folder that were there. */
  filesOf(folder: string): string[];
}

/** A file that is gone or empty for longer than this was not merely being replaced. */
const ABSENCE_MS = 60_000;

interface Remembered {
  readonly data: unknown;
  readonly folder?: string;
  /** Monotonic time at which it was first seen to be absent. */
  absentSince?: number;
}

/** A memory of nothing; it lasts as long as the process, since the files may hold credentials. */
export function createSourceMemory(clock: Pick<Clock, 'monotonic'>): SourceMemory {
  const files = new Map<string, Remembered>();
  return {
    remember(path, data, folder) {
      files.set(path, { data, ...(folder !== undefined && { folder }) });
    },
    recall(path, state) {
      const known = files.get(path);
      if (!known) return undefined;
      if (state === 'unreadable') return { data: known.data };
      known.absentSince ??= clock.monotonic();
      if (clock.monotonic() - known.absentSince <= ABSENCE_MS) return { data: known.data };
      files.delete(path);
      return undefined;
    },
    filesOf: (folder) => [...files].filter(([, known]) => known.folder === folder).map(([path]) => path),
  };
}
