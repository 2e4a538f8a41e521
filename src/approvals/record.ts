import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Approval, Risk, RiskLevel, Ruling, ServerOrigin } from '../model/approval.js';

/** Something that is trusted, by its hash. Without a ruling it was trusted on first use. */
export interface Trust {
  readonly hash: string;
  readonly at: number;
  readonly ruling?: Ruling;
}

/** Something that waits for a decision, or was rejected. */
export interface Ask {
  readonly hash: string;
  readonly at: number;
  readonly state: 'pending' | 'rejected';
  readonly risk: Risk;
  readonly changed: readonly string[];
  readonly ruling?: Ruling;
  /** When a list last had what was trusted before; absent where no earlier list was known. */
  readonly confirmedAt?: number;
}

/** How one subject stands: what of it is trusted, and what of it is asked for. */
export interface Standing {
  readonly trust?: Trust;
  readonly ask?: Ask;
}

/** A request or a trust that something newer took the place of. */
export interface Past {
  readonly about: 'launch' | 'instructions' | 'tool';
  readonly tool?: string;
  readonly hash: string;
  readonly at: number;
  readonly ruling?: Ruling;
  /** Absent where it was not decided, and in records of earlier versions. */
  readonly was?: Approval['was'];
}

/** A request that something newer takes the place of. What was decided about it stays known. */
export function pastAsk({ hash, at, state, ruling }: Ask, subject: Pick<Past, 'about' | 'tool'>): Past {
  return { ...subject, hash, at, ...(ruling && { ruling }), ...(state === 'rejected' && { was: state }) };
}

/** A trust that something newer takes the place of. */
export function pastTrust({ hash, at, ruling }: Trust, subject: Pick<Past, 'about' | 'tool'>): Past {
  return { ...subject, hash, at, ...(ruling && { ruling }), was: ruling ? 'approved' : 'trusted' };
}

/** What is remembered of the past with these added: decisions of people go last, so that a server cannot push them out by changing. */
export function addPast(known: readonly Past[], added: readonly Past[]): readonly Past[] {
  const all = [...known, ...added];
  let excess = all.length - MAX_PAST;
  if (excess <= 0) return all;
  const kept = all.filter(({ ruling }) => ruling !== undefined || excess-- <= 0);
  return kept.slice(-MAX_PAST);
}

/** Everything that is known about the trust in one server as it is launched; one stored value. */
export interface TrustRecord {
  /** Grows with every write, so that what is older never replaces what is newer in memory. */
  readonly version: number;
  readonly server: string;
  readonly launch: string;
  readonly origin: ServerOrigin;
  readonly target: string;
  readonly start: Standing;
  readonly presentation: Standing;
  /** Whether the presentation was pinned whole; earlier versions pinned instructions and title. */
  readonly isComplete?: boolean;
  /** Tools by name, and what the server lists besides them by the name of `itemName`. */
  readonly tools: ReadonlyMap<string, Standing>;
  /** The newest last, at most {@link MAX_PAST}. */
  readonly past: readonly Past[];
}

/** Superseded requests that are remembered for each server; the audit log has all of them. */
export const MAX_PAST = 50;

/** A new value of a field, as another origin, is a new format: an older version takes a record with it for damaged. */
const FORMAT = 1;

const ORIGINS: readonly unknown[] = ['user', 'project', 'registry', 'introspected'] satisfies ServerOrigin[];
const LEVELS: readonly unknown[] = ['low', 'medium', 'high', 'critical'] satisfies RiskLevel[];
const ABOUT: readonly unknown[] = ['launch', 'instructions', 'tool'] satisfies Array<Past['about']>;
const WAS: readonly unknown[] = [undefined, 'approved', 'rejected', 'trusted'] satisfies Array<Past['was']>;

/** A stored record, or the reason why it cannot be read. */
export type Read = { readonly record: TrustRecord } | { readonly unreadable: 'damaged' | 'newer' };

/** The raw id and the exact launch: neither a similar id nor a changed command shares a record (A2, A22). */
export function recordKey({ server, launch }: Pick<TrustRecord, 'server' | 'launch'>): string {
  return sha256(`${server}\0${launch}`);
}

/** The record as a stored value: text with its own checksum, so that no damage goes unnoticed (A23). */
export function encodeRecord(record: TrustRecord): JsonObject {
  const body = JSON.stringify({ ...record, tools: [...record.tools] });
  return { format: FORMAT, sum: sha256(body), body };
}

/** Reads a stored value. Damage differs from absence: an unreadable record must not be trusted on first use. */
export function decodeRecord(value: JsonValue): Read {
  if (!isObject(value) || typeof value['body'] !== 'string') return { unreadable: 'damaged' };
  if (typeof value['format'] === 'number' && value['format'] > FORMAT) return { unreadable: 'newer' };
  if (value['format'] !== FORMAT || value['sum'] !== sha256(value['body'])) return { unreadable: 'damaged' };
  const body = parse(value['body']);
  return body ? { record: { ...body, tools: new Map(body.tools) } } : { unreadable: 'damaged' };
}

type Body = Omit<TrustRecord, 'tools'> & { tools: Array<[string, Standing]> };

/** A row with a right checksum may still have been written by something else than encodeRecord. */
function parse(text: string): Body | undefined {
  let body: JsonValue;
  try {
    body = JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON: the caller distinguishes it from an absent record.
    return undefined;
  }
  if (!isObject(body)) return undefined;
  const { version, server, launch, origin, target, start, presentation, tools, past } = body;
  const isNamed = [server, launch, target].every((field) => typeof field === 'string') && ORIGINS.includes(origin);
  const areTools = Array.isArray(tools) && tools.every((tool) => Array.isArray(tool) && isPair(tool));
  // A version that cannot grow would keep every later decision out of the memory of running processes.
  const isWhole = Number.isSafeInteger(version) && isNamed && areTools && Array.isArray(past) && past.every(isPast);
  return isWhole && isStanding(start) && isStanding(presentation) ? (body as unknown as Body) : undefined;
}

const isPair = ([name, standing]: readonly JsonValue[]): boolean => typeof name === 'string' && isStanding(standing);
const areTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((each: unknown) => typeof each === 'string');
const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string';

function isStanding(value: JsonValue | undefined): boolean {
  if (!isObject(value)) return false;
  const { trust, ask } = value;
  return (trust === undefined || isDated(trust)) && (ask === undefined || (isDated(ask) && isAsk(ask)));
}

function isDated(value: JsonValue): value is JsonObject {
  if (!isObject(value)) return false;
  const { hash, at, ruling } = value;
  return typeof hash === 'string' && typeof at === 'number' && (ruling === undefined || isRuling(ruling));
}

function isRuling(value: JsonValue): boolean {
  return (
    isObject(value) &&
    typeof value['by'] === 'string' &&
    typeof value['at'] === 'number' &&
    isTextOrNone(value['reason'])
  );
}

function isPast(value: JsonValue): boolean {
  return isDated(value) && ABOUT.includes(value['about']) && WAS.includes(value['was']) && isTextOrNone(value['tool']);
}

function isAsk({ state, risk, changed, confirmedAt }: JsonObject): boolean {
  const isKnown = state === 'pending' || state === 'rejected';
  const isTimed = confirmedAt === undefined || typeof confirmedAt === 'number';
  return isKnown && isTimed && areTexts(changed) && isObject(risk) && isRisk(risk);
}

function isRisk({ level, reasons, informs }: JsonObject): boolean {
  return LEVELS.includes(level) && areTexts(reasons) && (informs === undefined || areTexts(informs));
}
