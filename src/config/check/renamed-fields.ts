import { isObject } from '../../kernel/json.js';
import { joinPath, problemAt, type Findings } from '../read/path.js';

type Fields = Record<string, unknown>;

/** A field that has another name now. */
interface Renamed {
  readonly from: string;
  readonly to: string;
  /** Milliseconds of the unit that the old name counts in; 1 by default. */
  readonly unitMs?: number;
}

/** Durations of an entry of `servers` that did not name their unit. */
const OF_SERVER: readonly Renamed[] = [
  { from: 'timeout', to: 'timeoutMs' },
  { from: 'totalTimeout', to: 'totalTimeoutMs' },
  { from: 'toolTimeouts', to: 'toolTimeoutsMs' },
  { from: 'connectTimeout', to: 'connectTimeoutMs' },
  { from: 'idleTimeout', to: 'idleTimeoutMs' },
];

/** Fields of a config that had another name, by the object they stand in; `''` is the config itself. */
const RENAMED: Readonly<Record<string, readonly Renamed[]>> = {
  '': [{ from: 'timeout', to: 'timeoutMs' }],
  cache: [{ from: 'ttl', to: 'ttlMs', unitMs: 1000 }],
  registry: [{ from: 'ttl', to: 'ttlMs', unitMs: 1000 }],
  limits: [{ from: 'auditRetentionDays', to: 'auditRetentionMs', unitMs: 86_400_000 }],
};

/** What was renamed: complaints, and the old path of each new one. */
interface Renames extends Findings {
  readonly oldPaths: Map<string, string>;
}

/** An object with the names of today; what deserves a word is added to the renames. */
function rename(fields: Fields, table: readonly Renamed[], base: string, renames: Renames): Fields {
  const { problems, warnings, oldPaths } = renames;
  const old = table.filter(({ from }) => Object.hasOwn(fields, from));
  if (old.length === 0) return fields;
  const renamed = { ...fields };
  for (const { from, to, unitMs = 1 } of old) {
    const value = fields[from];
    delete renamed[from];
    if (Object.hasOwn(fields, to)) {
      problems.push(problemAt(joinPath(base, from), `is the old name of ${to}, which is given too; keep only ${to}`));
      continue;
    }
    oldPaths.set(joinPath(base, to), joinPath(base, from));
    renamed[to] = typeof value === 'number' ? Math.round(value * unitMs) : value;
    const hint = unitMs === 1 || typeof value !== 'number' ? '' : `: ${String(renamed[to])}`;
    warnings.push(
      problemAt(joinPath(base, from), `is now called ${to}, in milliseconds${hint}; the old name still works`),
    );
  }
  return renamed;
}

/** An entry of `servers` with the names of today. */
export function renameInEntry(entry: unknown): unknown {
  return isObject(entry) ? rename(entry, OF_SERVER, '', { problems: [], warnings: [], oldPaths: new Map() }) : entry;
}

/** A config with the names of today, and what there is to say about those of yesterday. */
export interface RenamedConfig extends Findings {
  readonly fields: Fields;
  /** The path of a field as it was written. */
  writtenPath(path: string): string;
}

/** Gives the fields of a config the names of today. */
export function renameFields(given: Fields, base: string): RenamedConfig {
  const findings: Renames = { problems: [], warnings: [], oldPaths: new Map() };
  const fields = { ...rename(given, RENAMED['']!, base, findings) };
  for (const [name, table] of Object.entries(RENAMED)) {
    const held = fields[name];
    if (name !== '' && isObject(held)) fields[name] = rename(held, table, joinPath(base, name), findings);
  }
  const { servers } = fields;
  if (isObject(servers)) {
    const path = joinPath(base, 'servers');
    const entries = Object.entries(servers).map(([id, entry]) => [
      id,
      isObject(entry) ? rename(entry, OF_SERVER, joinPath(path, id), findings) : entry,
    ]);
    fields['servers'] = Object.fromEntries(entries);
  }
  const { problems, warnings, oldPaths } = findings;
  return {
    fields,
    problems,
    warnings,
    writtenPath(path) {
      for (const [now, old] of oldPaths) {
        if (path === now || path.startsWith(`${now}.`) || path.startsWith(`${now}[`))
          return old + path.slice(now.length);
      }
      return path;
    },
  };
}
