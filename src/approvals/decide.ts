import type { Remedy } from '../kernel/remedy.js';
import { hashJson } from '../kernel/hash.js';
import { isObject, type JsonValue } from '../kernel/json.js';
import type { HoldCause, Risk, Ruling, ServerOrigin } from '../model/approval.js';
import type { Config } from '../model/config.js';
import type { ItemHold } from '../model/hold.js';
import { DOUBT_PHRASES, type StoreDoubt } from '../model/store.js';
import type { Tool } from '../model/tool.js';
import { basicPresentationOf, presentationOf, type Presentation } from './fingerprint.js';
import { addPast, pastAsk, type Past, type Standing, type TrustRecord } from './record.js';
import { weighPresentation, weighTool } from './risk.js';

/** What is trusted without being asked about: everything a user configured, nothing, or everything. */
export type ApprovalPolicy = Config['approval'];

/** A request without a decision expires after this time. */
export const EXPIRES_AFTER_MS = 7 * 86_400_000;

/** Names pinned for one server. A server that lists ever new ones gets no further ones trusted by itself. */
export const MAX_PINS = 20_000;

/** Why a server may not be started. */
export interface Hold {
  /** `unaccepted`: the store as a whole is not trusted until a person accepts it. */
  readonly state: 'pending' | 'rejected' | 'unaccepted';
  /** One phrase for people. */
  readonly reason: string;
  readonly remedy: Remedy;
}

/** Whether one tool is offered, as far as trust goes; if not, why. */
export type TrustDecision = { readonly status: 'enabled' } | Held;

/** What is not offered for lack of trust. */
export interface Held {
  readonly status: 'pending' | 'quarantined';
  readonly hold: ItemHold;
}

/** The stored trust in a server: its record, none yet, or one that cannot be read. */
export interface Known {
  readonly record?: TrustRecord;
  readonly unreadable?: 'damaged' | 'newer' | 'unread';
  /** The record could not be stored; it is tried again. */
  readonly isUnsaved?: boolean;
}

const ENABLED: TrustDecision = { status: 'enabled' };
/** Signs of an attack weigh the most, and nothing else of a tool does. */
const isSuspect = ({ level }: Risk): boolean => level === 'critical';

const held = (
  status: 'pending' | 'quarantined',
  cause: HoldCause,
  reason: string,
  decidedBy?: ItemHold['decidedBy'],
): Held => ({
  status,
  hold: { cause, reason, ...(decidedBy && { decidedBy }) },
});
const WAITING = held('pending', 'waiting', 'it waits for approval');
const CHANGED = held('quarantined', 'changed', 'it changed after it was trusted');
const SERVER_CHANGED = held(
  'quarantined',
  'changed',
  'the description of its server changed after it was trusted',
  'server',
);

const UNREADABLE = {
  damaged: held('pending', 'unreadable', 'the record of what was trusted is damaged, so it must be approved again'),
  newer: held(
    'pending',
    'unreadable',
    'the record of what was trusted was written by a newer version of toolscout',
    'newer-record',
  ),
  unread: held('pending', 'unreadable', 'the record of what is trusted could not be read', 'store'),
} as const;

const FOUND: Readonly<Record<ServerOrigin, string>> = {
  user: 'you configured it',
  project: 'it comes from a file of a project',
  registry: 'it comes from a registry',
  introspected: 'a caller proposed it',
};

const becauseOf = (ruling: Ruling | undefined): string =>
  ruling === undefined ? '' : ` by ${ruling.by}${ruling.reason ? `: ${ruling.reason}` : ''}`;

/** Holds every server as long as the store is in doubt (A48). Without approvals there is nothing that could be lost. */
export function holdInDoubt(
  doubt: StoreDoubt | undefined,
  origin: ServerOrigin,
  policy: ApprovalPolicy,
): Hold | undefined {
  if (!doubt || (policy === 'off' && (origin === 'user' || origin === 'project'))) return undefined;
  return {
    state: 'unaccepted',
    reason: DOUBT_PHRASES[doubt.reason],
    remedy: { kind: 'accept-store' },
  };
}

/** Whether a server may be started at all; `undefined` means yes. */
export function holdServer(
  server: { readonly id: string; readonly origin: ServerOrigin; readonly launch: string },
  known: Known,
  policy: ApprovalPolicy,
): Hold | undefined {
  // Even then nothing starts that a caller or a registry proposed: no person has written it anywhere.
  if (policy === 'off' && (server.origin === 'user' || server.origin === 'project')) return undefined;
  const start = known.record?.start;
  if (start?.ask?.state === 'rejected' && start.ask.hash === server.launch) {
    return {
      state: 'rejected',
      reason: `it was rejected${becauseOf(start.ask.ruling)}`,
      remedy: { kind: 'undo-rejection', ref: server.id },
    };
  }
  if (server.origin === 'user' || start?.trust?.hash === server.launch) return undefined;
  return {
    state: 'pending',
    reason: `it waits for approval, because ${FOUND[server.origin]}`,
    remedy: { kind: 'review', ref: server.id },
  };
}

/** How one server as it shows itself now is judged. */
export interface Judgement {
  /** Whether the server's own description may be shown. */
  readonly isPresentable: boolean;
  /** Why nothing of the server is trusted at present, also what it does not list: mostly that its own description changed. */
  readonly hold?: ItemHold;
  judge(tool: SeenTool): TrustDecision;
}

/** Judges a tool without a decision where new tools are trusted unless they show signs of an attack. */
function judgeNew(tool: SeenTool): TrustDecision {
  const risk = weighTool(tool, { changed: false });
  if (!isSuspect(risk)) return ENABLED;
  return held('quarantined', 'suspect', `it shows signs of an attack: it ${risk.reasons[0]}`);
}

/** Why a tool shows signs of an attack; `undefined` when it shows none (A11). */
export function suspicionOf(tool: SeenTool): ItemHold | undefined {
  const decision = judgeNew(tool);
  return decision.status === 'enabled' ? undefined : decision.hold;
}

/** Judges one server; its presentation is compared once for all of its tools. */
export function judgeServer(known: Known, presentation: Presentation, policy: ApprovalPolicy): Judgement {
  if (policy === 'off') return { isPresentable: true, judge: () => ENABLED };
  const { record } = known;
  if (!record) {
    const lost = known.unreadable && UNREADABLE[known.unreadable];
    if (lost) return { isPresentable: false, hold: lost.hold, judge: () => lost };
    return { isPresentable: true, judge: policy === 'manual' ? () => WAITING : judgeNew };
  }
  const trusted = record.presentation.trust?.hash;
  const shown = record.isComplete ? presentationOf(presentation) : basicPresentationOf(presentation);
  const isAsked = record.presentation.ask?.state === 'pending';
  const isChanged = !presentation.isUnknown && trusted !== undefined && (isAsked || trusted !== hashJson(shown));
  const mayPin = policy === 'trust-first' && record.tools.size < MAX_PINS;
  const judge = (tool: SeenTool): TrustDecision => {
    const { name, hash } = tool;
    const { trust, ask } = record.tools.get(name) ?? {};
    if (ask?.state === 'rejected' && ask.hash === hash) {
      return held(trust ? 'quarantined' : 'pending', 'rejected', `it was rejected${becauseOf(ask.ruling)}`);
    }
    if (trust && trust.hash !== hash) return CHANGED;
    // Another process has a newer list in which it is something else (A40).
    if (trust && ask?.state === 'pending') return CHANGED;
    if (isChanged) return SERVER_CHANGED;
    if (trust) return ENABLED;
    if (policy !== 'trust-first') return WAITING;
    const decision = judgeNew(tool);
    return decision.status !== 'enabled' || (!ask && mayPin) ? decision : WAITING;
  };
  // A server's own description is shown when it was trusted, or when it never raised a doubt.
  const isDoubtful = trusted === undefined && record.presentation.ask !== undefined && !presentation.isUnknown;
  return { isPresentable: !isChanged && !isDoubtful, ...(isChanged && { hold: SERVER_CHANGED.hold }), judge };
}

/** A tool as far as trust goes. */
export type SeenTool = Pick<Tool, 'name' | 'hash' | 'definition' | 'categories'>;

/** What a server showed when its tools were learned. */
export interface Seen extends Presentation {
  readonly tools: readonly SeenTool[];
}

/** A list that a server gave earlier. */
export interface PreviousList {
  /** Wall-clock time at which the server gave it. */
  readonly at: number;
  /** The hash of what the server said of itself; absent where that is unknown. */
  readonly presentation?: string;
  /** Hashes by the names of tools and other entries. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** How what is seen is taken in. */
export interface Circumstances {
  readonly policy: ApprovalPolicy;
  readonly now: number;
  /** The server was asked just now; only then is a request that expired renewed. */
  readonly fresh: boolean;
  /** The earlier record is lost, so nothing may be trusted as if it were seen for the first time. */
  readonly careful: boolean;
  /** What stood behind a hash, where it is still known. */
  readonly earlier: (hash: string) => JsonValue | undefined;
  /** The list that was known before this one. */
  readonly previous?: () => PreviousList | undefined;
  /** The risk and the changed fields of a requested tool, where they were computed before; `known` is the trusted hash. */
  readonly weigh?: (tool: SeenTool, known: string | undefined) => Asked;
}

/** Whether a request is too old to be answered. */
export function isExpired(ask: { readonly state: string; readonly at: number }, now: number): boolean {
  return ask.state === 'pending' && now - ask.at > EXPIRES_AFTER_MS;
}

/** The request that something newer took the place of, for the memory of past ones. */
function pastOf(before: Standing, after: Standing, about: Past['about'], tool?: string): Past[] {
  const { ask } = before;
  if (!ask || ask.hash === after.ask?.hash) return [];
  return [pastAsk(ask, tool === undefined ? { about } : { about, tool })];
}

/** Takes in that a subject now has this hash; the same standing when nothing is to be noted. */
function observe(
  standing: Standing,
  hash: string,
  how: Pick<Circumstances, 'now' | 'fresh'> & {
    /** Whether new items are trusted, unless they are suspect. */
    readonly trustNew: boolean;
    readonly weigh: () => Pick<Asked, 'risk' | 'changed'>;
    /** When a list last had this hash of it, where that is known. */
    readonly listedAt: (hash: string) => number | undefined;
  },
): Standing {
  const { trust, ask } = standing;
  // Only what the server says now takes a request back: an old list must not undo what a newer one showed (A40).
  if (trust?.hash === hash) return ask?.state === 'pending' && how.fresh ? { trust } : standing;
  if (!trust && !ask && how.trustNew && !isSuspect(how.weigh().risk)) return { trust: { hash, at: how.now } };
  if (ask?.hash === hash) {
    return how.fresh && isExpired(ask, how.now) ? { ...standing, ask: { ...ask, at: how.now } } : standing;
  }
  // Of several changes in a row the first was noticed when the trusted one was last there.
  const confirmedAt = trust && (how.listedAt(trust.hash) ?? ask?.confirmedAt);
  const since = confirmedAt === undefined ? {} : { confirmedAt };
  return { ...standing, ask: { hash, at: how.now, state: 'pending', ...how.weigh(), ...since } };
}

/** What a request for something says beside its hash. */
export interface Asked {
  readonly risk: Risk;
  readonly changed: readonly string[];
}

/** The top-level fields in which two values differ. */
export function changedFields(before: JsonValue | undefined, after: JsonValue): string[] {
  if (!isObject(before) || !isObject(after)) return [];
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const valueOf = (object: typeof before, name: string): string =>
    Object.hasOwn(object, name) ? hashJson(object[name]) : '';
  return [...names].filter((name) => valueOf(before, name) !== valueOf(after, name)).toSorted();
}

/** The risk of a requested tool, and the fields in which it differs from the trusted one. */
export function weighSeen(tool: SeenTool, known: string | undefined, earlier: Circumstances['earlier']): Asked {
  const before = known === undefined ? undefined : earlier(known);
  return {
    risk: weighTool(tool, { changed: known !== undefined, before }),
    changed: changedFields(before, tool.definition),
  };
}

/** Whether taking in a tool needs no weighing, given how it stands. */
export function isWeighed({ hash }: SeenTool, standing: Standing | undefined): boolean {
  if (!standing) return false;
  return standing.trust?.hash === hash || standing.ask?.hash === hash;
}

/**
 * How the presentation stands once it is pinned whole. Of a record that pinned less the rest is seen for the first time:
 * it is trusted with the part that is, unless it shows signs of an attack.
 */
function completed({ presentation, isComplete }: TrustRecord, seen: Presentation, hash: string): Standing {
  const { trust } = presentation;
  if (isComplete || !trust || trust.hash === hash || trust.hash !== hashJson(basicPresentationOf(seen)))
    return presentation;
  const isAttack = isSuspect(weighPresentation(presentationOf(seen), { changed: false }));
  return isAttack ? presentation : { ...presentation, trust: { ...trust, hash } };
}

/**
 * Takes in a server's list: what is new is trusted or asked for, what changed is asked for. Pure; the
 * same record comes back when there is nothing to write.
 */
export function takeIn(record: TrustRecord, seen: Seen, how: Circumstances): TrustRecord {
  if (how.policy === 'off') return record;
  const past: Past[] = [];
  const { earlier, now, fresh, previous = () => undefined } = how;

  const shown = presentationOf(seen);
  const hash = hashJson(shown);
  const pinned = record.presentation.trust?.hash;
  const present = (): Standing =>
    observe(completed(record, seen, hash), hash, {
      now,
      fresh,
      // There is nothing to compare the first presentation with; in manual mode its tools wait in any case.
      trustNew: true,
      listedAt: (known) => (previous()?.presentation === known ? previous()?.at : undefined),
      weigh: () => ({
        risk: weighPresentation(shown, { changed: pinned !== undefined }),
        changed: changedFields(pinned === undefined ? undefined : earlier(pinned), shown),
      }),
    });
  const presentation = seen.isUnknown ? record.presentation : present();
  past.push(...pastOf(record.presentation, presentation, 'instructions'));

  let tools: Map<string, Standing> | undefined;
  for (const tool of seen.tools) {
    const before = (tools ?? record.tools).get(tool.name);
    // Not even noted: what a server makes us keep is bounded, and without a note it stays pending.
    if (!before && (tools ?? record.tools).size >= MAX_PINS) continue;
    const known = before?.trust?.hash;
    const after = observe(before ?? {}, tool.hash, {
      now,
      fresh,
      trustNew: how.policy === 'trust-first' && !how.careful,
      listedAt: (hash) => (previous()?.hashes.get(tool.name) === hash ? previous()?.at : undefined),
      weigh: () => (how.weigh ? how.weigh(tool, known) : weighSeen(tool, known, earlier)),
    });
    if (after === before) continue;
    if (before) past.push(...pastOf(before, after, 'tool', tool.name));
    tools ??= new Map(record.tools);
    tools.set(tool.name, after);
  }
  const isComplete = record.isComplete === true || !seen.isUnknown;
  if (presentation === record.presentation && !tools && isComplete === (record.isComplete ?? false)) return record;
  return {
    ...record,
    presentation,
    isComplete,
    tools: tools ?? record.tools,
    past: addPast(record.past, past),
  };
}
