import { isObject, type JsonObject } from './json.js';
import type { Remedy } from './remedy.js';

type Fields<K extends Remedy['kind']> = Omit<Extract<Remedy, { kind: K }>, 'kind'>;
type Required<T> = { [F in keyof T]-?: object extends Pick<T, F> ? never : F }[keyof T];

/** The fields that a remedy of each kind must have to be worded. */
const REQUIRED: { readonly [K in Remedy['kind']]: ReadonlyArray<Required<Fields<K>>> } = {
  advice: ['text'],
  none: [],
  steps: ['steps'],
  'fix-arguments': [],
  'call-with-effects': [],
  'find-tool': [],
  'search-again': [],
  'list-servers': [],
  'search-registry': [],
  'list-skills': [],
  'check-skill': ['skill'],
  'change-rule': [],
  'add-rule': [],
  'list-pending': [],
  review: [],
  'review-change': [],
  'confirm-call': [],
  'do-not-repeat': [],
  'list-pending-calls': [],
  'undo-rejection': ['ref'],
  'accept-lock': [],
  'look-first': ['ref'],
  'look-at-each': [],
  'approve-each': ['server'],
  'name-tools': ['server'],
  'copy-hash': [],
  'renew-request': ['server'],
  discover: ['server'],
  'sign-in': ['server'],
  credentials: [],
  'set-variables': ['names'],
  diagnose: [],
  'ask-for-less': [],
  configure: ['what'],
  'check-config': [],
  'accept-store': [],
  'state-directory': [],
  'open-files': [],
  overloaded: [],
  'report-bug': [],
};

const FLAGS: ReadonlySet<string> = new Set(['listed', 'again']);

function isField(name: string, value: unknown): boolean {
  if (name === 'steps') return Array.isArray(value) && value.every((step) => readRemedy(step) !== undefined);
  if (name === 'names') return Array.isArray(value) && value.every((each) => typeof each === 'string');
  return typeof value === (FLAGS.has(name) ? 'boolean' : 'string');
}

/** A remedy as JSON, for the store. */
export function writeRemedy(remedy: Remedy): JsonObject {
  return JSON.parse(JSON.stringify(remedy)) as JsonObject;
}

/** Reads a remedy from the store; `undefined` for any other value, such as a remedy of a kind that only a newer version knows. */
export function readRemedy(value: unknown): Remedy | undefined {
  if (!isObject(value) || typeof value['kind'] !== 'string' || !Object.hasOwn(REQUIRED, value['kind']))
    return undefined;
  const required: readonly string[] = REQUIRED[value['kind'] as Remedy['kind']];
  if (!required.every((name) => Object.hasOwn(value, name))) return undefined;
  const isWhole = Object.entries(value).every(([name, field]) => isField(name, field));
  return isWhole ? (value as unknown as Remedy) : undefined;
}
