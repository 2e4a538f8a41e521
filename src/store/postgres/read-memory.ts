/** A row of entries as the database gave it: key, whole name, text, stored at, expires at, revision. */
export type EntryRow = readonly unknown[];

/** What was read or written last, for the time in which the database is away (STORE-4). */
export interface ReadMemory {
  /** Notes the row under a key, or that there is none. */
  note(space: string, key: string, row: EntryRow | undefined): void;
  /** Notes all rows of a space. */
  noteAll(space: string, rows: readonly EntryRow[]): void;
  /** The row as it was, no row when there was none, and `unknown` when it was never asked for. */
  get(space: string, key: string): readonly EntryRow[] | 'unknown';
  list(space: string): readonly EntryRow[] | 'unknown';
}

interface Space {
  readonly rows: Map<string, EntryRow | undefined>;
  /** Whether everything of the space was read once. */
  isWhole: boolean;
}

/** Rows kept of one space, and the longest text of one. */
const MAX_ROWS = 20_000;
const MAX_TEXT = 262_144;

/** Lists of tools are in the memory of the catalog; a second copy would cost as much again. */
const NOT_KEPT: ReadonlySet<string> = new Set(['tools']);

const isSmall = (row: EntryRow | undefined): boolean => String(row?.[2] ?? '').length <= MAX_TEXT;

/** A memory of rows by space and key, as they are named in the index. */
export function createReadMemory(): ReadMemory {
  const spaces = new Map<string, Space>();
  return {
    note(name, key, row) {
      if (NOT_KEPT.has(name)) return;
      let space = spaces.get(name);
      if (!space) spaces.set(name, (space = { rows: new Map(), isWhole: false }));
      space.rows.delete(key);
      if (!isSmall(row)) {
        space.isWhole = false;
        return;
      }
      if (space.rows.size >= MAX_ROWS) {
        space.isWhole = false;
        space.rows.delete(space.rows.keys().next().value!);
      }
      space.rows.set(key, row);
    },
    noteAll(name, rows) {
      if (NOT_KEPT.has(name)) return;
      const kept = rows.slice(0, MAX_ROWS).filter(isSmall);
      spaces.set(name, {
        rows: new Map(kept.map((row) => [String(row[0]), row])),
        isWhole: kept.length === rows.length,
      });
    },
    get(name, key) {
      const space = spaces.get(name);
      if (!space || (!space.isWhole && !space.rows.has(key))) return 'unknown';
      const row = space.rows.get(key);
      return row ? [row] : [];
    },
    list(name) {
      const space = spaces.get(name);
      return space?.isWhole ? [...space.rows.values()].filter((row) => row !== undefined) : 'unknown';
    },
  };
}
