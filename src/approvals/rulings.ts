import { ToolscoutError } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import type { Approval, ApprovalState, Risk, Ruling } from '../model/approval.js';
import { isExpired } from './decide.js';
import { addPast, pastAsk, pastTrust, type Ask, type Past, type Standing, type TrustRecord } from './record.js';

/** What a ruling is about: how a server is started, how it presents itself, or one of its tools. */
export type Subject =
  | { readonly about: 'launch' }
  | { readonly about: 'instructions' }
  | { readonly about: 'tool'; readonly tool: string };

/** A subject together with the hash, or its beginning, that the person saw; another one is refused. */
export type ChosenSubject = Subject & { readonly expected?: string };

/** Characters of a hash that name one definition beyond doubt. */
export const MIN_HASH_LENGTH = 12;

/**
 * Checks what a person gave as a hash.
 *
 * @throws ToolscoutError `INVALID_REQUEST` when it is too short or no hash.
 */
export function checkHash(hash: string): string {
  if (hash.length >= MIN_HASH_LENGTH && /^[0-9a-f]{1,64}$/i.test(hash)) return hash.toLowerCase();
  throw new ToolscoutError(
    'INVALID_REQUEST',
    `The hash ${JSON.stringify(hash.slice(0, 80))} is not valid: it needs ${MIN_HASH_LENGTH} to 64 hexadecimal characters.`,
    { remedy: { kind: 'copy-hash' } },
  );
}

/** How a subject stands in a record. */
export function standingOf(record: TrustRecord, subject: Subject): Standing {
  if (subject.about === 'launch') return record.start;
  if (subject.about === 'instructions') return record.presentation;
  return record.tools.get(subject.tool) ?? {};
}

/** The record with one standing replaced. */
export function withStanding(record: TrustRecord, subject: Subject, standing: Standing): TrustRecord {
  if (subject.about === 'launch') return { ...record, start: standing };
  if (subject.about === 'instructions') return { ...record, presentation: standing };
  return { ...record, tools: new Map(record.tools).set(subject.tool, standing) };
}

/** Every subject about which something is asked, the server before its tools. */
export function askedSubjects(record: TrustRecord): Subject[] {
  const asked: Subject[] = [];
  if (record.start.ask) asked.push({ about: 'launch' });
  if (record.presentation.ask) asked.push({ about: 'instructions' });
  for (const [tool, { ask }] of record.tools) if (ask) asked.push({ about: 'tool', tool });
  return asked;
}

const refOf = (record: TrustRecord, subject: Subject): string =>
  subject.about === 'tool' ? addressOf(record.server, subject.tool) : record.server;

/** The request a ruling answers; refused when it is not what the person saw, or too old. */
function askOf(record: TrustRecord, subject: Subject, expected: string | undefined, now: number): Ask {
  const ref = refOf(record, subject);
  const { ask } = standingOf(record, subject);
  if (!ask) {
    throw new ToolscoutError('NOTHING_FOUND', `"${ref}" has no pending approval request.`, {
      remedy: { kind: 'list-pending' },
    });
  }
  if (isExpired(ask, now)) {
    throw new ToolscoutError('APPROVAL_REQUIRED', `The request to trust "${ref}" has expired.`, {
      remedy: { kind: 'renew-request', server: record.server },
    });
  }
  if (expected !== undefined && !ask.hash.startsWith(checkHash(expected))) {
    throw changed(ref, ask.hash, expected);
  }
  return ask;
}

/** The refusal of a decision about another hash: the subject changed after it was shown, or the given hash is wrong. */
function changed(ref: string, hash: string, expected: string): ToolscoutError {
  const message = `The hash of "${ref}" is ${hash}, not ${expected}: it changed after it was shown, or the given hash is wrong.`;
  return new ToolscoutError('TOOL_CHANGED', message, { remedy: { kind: 'review-change', ref } });
}

/** How a request is answered. */
export interface Answer {
  readonly ruling: Ruling;
  /** The hash, or its beginning, that the person saw of every subject that does not name its own. */
  readonly expected?: string;
}

/** Trusts what is asked for, and nothing else: its hash is what is pinned from now on. */
export function approveIn(record: TrustRecord, subject: ChosenSubject, { ruling, expected }: Answer): TrustRecord {
  const ask = askOf(record, subject, subject.expected ?? expected, ruling.at);
  const { trust } = standingOf(record, subject);
  const replaced = [
    ...(trust ? [pastTrust(trust, placeOf(subject))] : []),
    // Approved after all: that it was rejected before stays in the history.
    ...(ask.state === 'rejected' ? [pastAsk(ask, placeOf(subject))] : []),
  ];
  const next = withStanding(record, subject, { trust: { hash: ask.hash, at: ruling.at, ruling } });
  return withPast(next, replaced);
}

const placeOf = (subject: Subject): Pick<Past, 'about' | 'tool'> =>
  subject.about === 'tool' ? { about: subject.about, tool: subject.tool } : { about: subject.about };

const withPast = (record: TrustRecord, replaced: readonly Past[]): TrustRecord => ({
  ...record,
  past: addPast(record.past, replaced),
});

const NO_RISK: Risk = { level: 'low', reasons: [] };

/**
 * Rejects the pending request, or revokes the trust when there is no request. The subject stays out until it changes or
 * a person approves it.
 */
export function rejectIn(record: TrustRecord, subject: ChosenSubject, answer: Answer): TrustRecord {
  const { ruling } = answer;
  const { trust, ask: asked } = standingOf(record, subject);
  const expected = subject.expected ?? answer.expected;
  const hash = trust?.hash ?? (subject.about === 'launch' ? record.launch : undefined);
  if (!asked && hash !== undefined) {
    if (expected !== undefined && !hash.startsWith(checkHash(expected)))
      throw changed(refOf(record, subject), hash, expected);
    const ask: Ask = { hash, at: ruling.at, state: 'rejected', risk: NO_RISK, changed: [], ruling };
    return withPast(withStanding(record, subject, { ask }), trust?.ruling ? [pastTrust(trust, placeOf(subject))] : []);
  }
  const ask = askOf(record, subject, expected, ruling.at);
  return withStanding(record, subject, { ...(trust ? { trust } : {}), ask: { ...ask, state: 'rejected', ruling } });
}

/** Every requested or decided subject of a record, as approvals. */
export function approvalsOf(record: TrustRecord, now: number): Approval[] {
  const base = (subject: Subject): Pick<Approval, 'ref' | 'server' | 'tool' | 'about' | 'origin' | 'target'> => ({
    ref: refOf(record, subject),
    server: record.server,
    ...(subject.about === 'tool' ? { tool: subject.tool } : {}),
    about: subject.about,
    origin: record.origin,
    target: record.target,
  });
  const found: Approval[] = [];
  const describe = (subject: Subject): void => {
    const { trust, ask } = standingOf(record, subject);
    if (trust?.ruling) {
      const { hash, at, ruling } = trust;
      found.push({ ...base(subject), state: 'approved', hash, requestedAt: at, ruling, risk: NO_RISK, changed: [] });
    }
    if (!ask) return;
    const state: ApprovalState = isExpired(ask, now) ? 'expired' : ask.state;
    found.push({
      ...base(subject),
      state,
      hash: ask.hash,
      ...(trust ? { pinned: trust.hash } : {}),
      requestedAt: ask.at,
      ...(trust ? { confirmedAt: ask.confirmedAt ?? trust.at } : {}),
      ...(ask.ruling ? { ruling: ask.ruling } : {}),
      risk: ask.risk,
      changed: ask.changed,
    });
  };
  describe({ about: 'launch' });
  describe({ about: 'instructions' });
  for (const tool of record.tools.keys()) describe({ about: 'tool', tool });
  for (const { about, tool, hash, at, ruling, was } of record.past) {
    const subject: Subject = about === 'tool' ? { about, tool: tool ?? '' } : { about };
    const decided = { ...(ruling && { ruling }), ...(was && { was }) };
    found.push({
      ...base(subject),
      state: 'superseded',
      hash,
      requestedAt: at,
      ...decided,
      risk: NO_RISK,
      changed: [],
    });
  }
  return found;
}
