import type { AuditKind, AuditRecord } from '../../api/types.js';
import { outcomeWord } from '../../text/code-words.js';
import { formatMoment, plural } from '../../text/format.js';

/** The word of a person for each kind of record, in the order of the filter. */
const KIND_WORDS: Readonly<Record<AuditKind, string>> = {
  execution: 'call',
  script: 'script',
  search: 'search',
  menu: 'menu of tools',
  answer: 'answer of toolscout',
  'resource-read': 'resource read',
  'prompt-get': 'prompt',
  completion: 'completion',
  discovered: 'tools learned',
  approve: 'approval',
  reject: 'rejection',
  confirm: 'confirmation of a call',
  'config-edit': 'config edited',
  reload: 'config read',
  'config-approve': 'config approved',
  'config-withdraw': 'config approval withdrawn',
  'server-add': 'server added',
  register: 'server registered',
  unregister: 'server removed',
  introspect: 'server looked at',
  'capability-register': 'capability registered',
  'sign-in': 'sign-in to a server',
  'sign-out': 'sign-out of a server',
  'session-open': 'session opened',
  'session-end': 'session ended',
  export: 'export',
  lock: 'lock file',
  'cache-clear': 'cache cleared',
  'usage-forgotten': 'usage forgotten',
  'store-accept': 'store accepted',
  'store-migrate': 'store migrated',
};

/** Every kind and its word. */
export const KINDS = Object.entries(KIND_WORDS);

/** The word for a kind; one of another version is shown as it is. */
export function kindWord(kind: string): string {
  return Object.hasOwn(KIND_WORDS, kind) ? KIND_WORDS[kind as AuditKind] : kind;
}

const CONFIRM_WORDS: Readonly<Record<string, string>> = {
  asked: 'confirmation asked',
  approved: 'call approved',
  rejected: 'call rejected',
  unanswered: 'confirmation not answered',
};

/** The word for what a record says: that of its kind, and of a confirmation what became of it. */
export function recordWord({ kind, detail }: Pick<AuditRecord, 'kind' | 'detail'>): string {
  const decision = kind === 'confirm' ? (detail as { decision?: unknown } | null | undefined)?.decision : undefined;
  return typeof decision === 'string' && Object.hasOwn(CONFIRM_WORDS, decision)
    ? CONFIRM_WORDS[decision]!
    : kindWord(kind);
}

/** What a record is about: `server:tool`, a server, or the kind alone. */
export function titleOf({ server, tool, kind }: Pick<AuditRecord, 'server' | 'tool' | 'kind'>): string {
  if (server === undefined) return kindWord(kind);
  return tool === undefined ? server : `${server}:${tool}`;
}

/** When a record was made: that of something that took time is made at its end; Traffic has the beginning. */
export function endedText({ time, latencyMs }: Pick<AuditRecord, 'time' | 'latencyMs'>, now: number): string {
  return `${latencyMs === undefined ? '' : 'ended '}${formatMoment(time, now)}`;
}

/** How records can have ended, and the word for it. */
export const OUTCOMES: ReadonlyArray<readonly [string, string]> = [
  ['', 'Every outcome'],
  ['success', 'success'],
  ['failure', 'failure'],
  ['cancelled', 'cancelled'],
  ['refused', 'refused'],
  ['waiting', outcomeWord('waiting')],
];

/** The outcome that is asked for: in the log a call that was cancelled is one that failed. */
export function storedOutcome(outcome: string): string {
  return outcome === 'cancelled' ? 'failure' : outcome;
}

/** The records whose badge has the word that was chosen. */
export function withOutcome<T extends Pick<AuditRecord, 'outcome' | 'code'>>(
  records: readonly T[],
  outcome: string,
): readonly T[] {
  if (storedOutcome(outcome) !== 'failure') return records;
  return records.filter((record) => outcomeWord(record.outcome, record.code) === outcome);
}

/** How many records are shown, and out of how many where the log may have more. */
export function countText(shown: number, read: number, limit: number): string {
  if (read < limit) return plural(shown, 'record');
  return shown === read ? `The newest ${limit} records` : `${plural(shown, 'record')} of the newest ${limit}`;
}

/** What stands where no record fits these filters. */
export function emptyText(filters: Readonly<Record<string, string>>): string {
  const isFiltered = Object.values(filters).some((value) => value !== '');
  return `Every call, every decision and every search of an agent leaves a record here. ${
    isFiltered ? 'Loosen the filters to see more.' : 'Run a tool to see the first one.'
  }`;
}

/** Servers to choose from; one that is chosen stays, also when it is configured no more. */
export function serverOptions(names: readonly string[], chosen: string): Array<readonly [string, string]> {
  const all = chosen === '' || names.includes(chosen) ? names : [...names, chosen];
  return all.map((name) => [name, name.slice(0, 60)]);
}

/** How far back records are shown. */
export const SINCE: ReadonlyArray<readonly [string, string]> = [
  ['', 'any time'],
  ['hour', 'the last hour'],
  ['today', 'today'],
  ['week', 'the last 7 days'],
];

const HOUR_MS = 3_600_000;

/** When such a time begins, in the zone of the reader; `undefined` for any time. */
export function sinceTime(since: string, now: number): number | undefined {
  if (since === 'hour') return now - HOUR_MS;
  if (since === 'week') return now - 7 * 24 * HOUR_MS;
  return since === 'today' ? new Date(now).setHours(0, 0, 0, 0) : undefined;
}
