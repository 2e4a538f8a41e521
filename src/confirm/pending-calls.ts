import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.js';
import { ToolscoutError, type ErrorDetails } from '../kernel/errors.js';
import { isAhead } from '../kernel/expiry.js';
import { surplusOf } from '../kernel/fair-share.js';
import { isObject, type JsonValue } from '../kernel/json.js';
import { scopeOf, type PendingCall, type PendingCallState } from '../model/pending-call.js';
import type { Entry, Store } from '../model/store.js';
import type { AskedCall } from './subject.js';

/** A call that does not wait any more, and its place. */
interface Ended {
  readonly key: string;
  readonly pending: PendingCall;
}

/** What was said about a call. */
type Ruling = NonNullable<PendingCall['ruling']>;

/** The state of a call that is about to run. */
export interface Standing {
  /** `used`: it was confirmed, and the confirmation is used up by this. */
  readonly state: 'waiting' | 'rejected' | 'used';
  readonly pending: PendingCall;
  /** It was asked for just now. */
  readonly isNew: boolean;
}

/** Calls that wait for a person, in the store: every process over it sees and decides the same ones (SEC-11). */
export interface PendingCalls {
  /**
   * Asks for a call, or takes the confirmation that was given for it: of all who try at once, in all processes, one
   * gets it.
   */
  ask(call: AskedCall): Promise<Standing>;
  /** What was decided about a call, and a confirmation used up by this; `undefined` where nothing was. */
  settled(call: AskedCall): Promise<Standing | undefined>;
  list(): Promise<PendingCall[]>;
  /**
   * Decides about a call that waits; durable when it resolves. `permit` may refuse by throwing.
   *
   * @throws ToolscoutError `NOTHING_FOUND` when no such call waits.
   */
  decide(
    id: string,
    verdict: 'approved' | 'rejected',
    ruling: Ruling,
    permit?: (pending: PendingCall) => void,
  ): Promise<PendingCall>;
}

const SPACE = 'pending-calls';
/** Calls that one caller may have waiting, and all together: a person cannot look at more. */
const MAX_OF_CALLER = 50;
const MAX_WAITING = 1000;
/** Calls that are over and still shown; then the oldest of the caller that has most goes, because each new call looks at all of them (A43). */
const MAX_OVER = 200;
/** Characters of the name that a host gives itself. */
const MAX_HOST = 200;
/** What ended this long ago is forgotten. */
const FORGET_MS = 3_600_000;
/** Others that write the same call at the same time; each of them got further, so this is not reached. */
const MAX_TRIES = 16;

const TEXTS = ['id', 'server', 'tool', 'argumentsHash', 'principal', 'route', 'rule'] as const;
const STATES: readonly unknown[] = ['waiting', 'approved', 'rejected', 'used', 'expired'] satisfies PendingCallState[];

const isText = (value: unknown): boolean => typeof value === 'string';
const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string';

function isRuling(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { by, reason, at, via } = value;
  return isText(by) && isTextOrNone(reason) && Number.isFinite(at) && (via === 'operator' || via === 'webhook');
}

/** Any process of the store may have written the row: one that is not a whole call would hide all others from people (A48). */
function isPending(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { host, skill, scope, state, requestedAt, expiresAt, ruling } = value;
  const isDecided = state === 'approved' || state === 'rejected';
  return (
    TEXTS.every((field) => isText(value[field])) &&
    [host, skill].every(isTextOrNone) &&
    [undefined, 'call', 'tool'].includes(scope as string | undefined) &&
    STATES.includes(state) &&
    [requestedAt, expiresAt].every((time) => Number.isFinite(time)) &&
    (ruling === undefined ? !isDecided : isRuling(ruling)) &&
    value['arguments'] !== undefined
  );
}

function read(entry: Entry | undefined): PendingCall | undefined {
  if (!entry || entry.damaged || !isPending(entry.value)) return undefined;
  const pending = entry.value as unknown as PendingCall;
  // An older version did not tell the scope: a yes to such a call covers that call.
  return pending.scope === undefined ? { ...pending, scope: 'call' } : pending;
}

/** Whether a row is about this call: people decide about what the row says, so it holds for no other call (A48). */
function isAbout(pending: PendingCall, { call, server, tool, argumentsHash }: AskedCall): boolean {
  const isSame = pending.server === server.id && pending.tool === tool.name && pending.argumentsHash === argumentsHash;
  return isSame && pending.principal === call.viewer.principal && pending.skill === call.viewer.skill?.id;
}

/** The state as it is now. A yes or a question that was not used in time is expired. */
function stateAt({ state, requestedAt, expiresAt }: PendingCall, now: number): PendingCallState {
  return state !== 'used' && (expiresAt <= now || isAhead(requestedAt, now)) ? 'expired' : state;
}

/** A call as it is now; what was decided about one that expired stays known. */
function shownAt(pending: PendingCall, now: number): PendingCall {
  const state = stateAt(pending, now);
  const { state: was } = pending;
  return { ...pending, state, ...(state === 'expired' && (was === 'approved' || was === 'rejected') && { was }) };
}

/** The pending calls of a store. */
export function createPendingCalls(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly pendingMs: () => number;
  /** Arguments as they may be kept and shown. */
  readonly redact: (value: JsonValue, server: string) => JsonValue;
}): PendingCalls {
  const { store, clock } = deps;

  const list = async (): Promise<PendingCall[]> => {
    const now = clock.now();
    return (await store.list(SPACE))
      .map(read)
      .filter((pending) => pending !== undefined)
      .map((pending) => shownAt(pending, now))
      .toSorted((a, b) => a.requestedAt - b.requestedAt || (a.id < b.id ? -1 : 1));
  };

  /** Forgets what is long over, and of the rest the oldest where there is much; refuses one more where too many wait. */
  const makeRoom = async ({ call }: AskedCall): Promise<void> => {
    const now = clock.now();
    let waiting = 0;
    let own = 0;
    const over: Ended[] = [];
    for (const entry of await store.list(SPACE)) {
      const pending = read(entry);
      if (!pending || pending.expiresAt + FORGET_MS <= now) {
        await store.delete(SPACE, entry.key);
        continue;
      }
      const state = stateAt(pending, now);
      if (state === 'waiting') {
        waiting += 1;
        if (pending.principal === call.viewer.principal) own += 1;
      } else if (state !== 'approved') over.push({ key: entry.key, pending });
    }
    const oldestFirst = over.toSorted((a, b) => a.pending.requestedAt - b.pending.requestedAt);
    for (const { key } of surplusOf(oldestFirst, ({ pending }) => pending.principal, MAX_OVER)) {
      await store.delete(SPACE, key);
    }
    if (waiting < MAX_WAITING && own < MAX_OF_CALLER) return;
    const which = own < MAX_OF_CALLER ? `${MAX_WAITING} calls` : `${MAX_OF_CALLER} calls of this caller`;
    throw new ToolscoutError('RATE_LIMITED', `${which} already wait for a confirmation; that is the limit.`, {
      remedy: { kind: 'list-pending-calls' },
      retryAfterMs: 60_000,
      delivered: false,
    });
  };

  const fresh = ({ call, server, tool, rule, argumentsHash }: AskedCall): PendingCall => {
    const requestedAt = clock.now();
    const { skill } = call.viewer;
    return {
      id: `call_${randomBytes(6).toString('hex')}`,
      server: server.id,
      tool: tool.name,
      arguments: deps.redact(call.arguments, server.id),
      argumentsHash,
      principal: call.viewer.principal,
      ...(call.hostName !== undefined && { host: call.hostName.slice(0, MAX_HOST) }),
      ...(skill && { skill: skill.id }),
      route: call.route,
      rule: rule.reason,
      scope: scopeOf(rule),
      state: 'waiting',
      requestedAt,
      expiresAt: requestedAt + deps.pendingMs(),
    };
  };

  const put = (key: string, pending: PendingCall, ifRevision: number): Promise<boolean> =>
    store.put(SPACE, key, pending as unknown as JsonValue, { ifRevision });

  /**
   * Where a call stands, from its entry; takes a confirmation. `undefined` when it must be asked for, or another call
   * took the confirmation.
   */
  const standingOf = async (asked: AskedCall, entry: Entry | undefined): Promise<Standing | undefined> => {
    const pending = read(entry);
    if (!entry || !pending || !isAbout(pending, asked)) return undefined;
    const state = stateAt(pending, clock.now());
    if (state === 'waiting' || state === 'rejected') return { state, pending, isNew: false };
    if (state !== 'approved') return undefined;
    const used: PendingCall = { ...pending, state: 'used' };
    return (await put(asked.binding, used, entry.revision))
      ? { state: 'used', pending: used, isNew: false }
      : undefined;
  };

  return {
    list,
    async settled(call) {
      const standing = await standingOf(call, await store.get(SPACE, call.binding));
      return standing?.state === 'waiting' ? undefined : standing;
    },
    async ask(call) {
      const key = call.binding;
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const entry = await store.get(SPACE, key);
        const standing = await standingOf(call, entry);
        if (standing) return standing;
        await makeRoom(call);
        const asked = fresh(call);
        // What was just forgotten has no revision any more.
        const revision = (await store.get(SPACE, key))?.revision ?? 0;
        if (revision === (entry?.revision ?? 0) || revision === 0) {
          if (await put(key, asked, revision)) return { state: 'waiting', pending: asked, isNew: true };
        }
      }
      throw contested({ delivered: false });
    },

    async decide(id, verdict, ruling, permit) {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        const entry = (await store.list(SPACE)).find((each) => read(each)?.id === id);
        const pending = read(entry);
        const state = pending && stateAt(pending, clock.now());
        if (!entry || !pending || state !== 'waiting') throw notWaiting(id, pending && { ...pending, state: state! });
        permit?.(pending);
        const expiresAt = clock.now() + deps.pendingMs();
        const decided: PendingCall = { ...pending, state: verdict, expiresAt, ruling };
        if (await put(entry.key, decided, entry.revision)) return decided;
      }
      throw contested();
    },
  };
}

function contested(details: Pick<ErrorDetails, 'delivered'> = {}): ToolscoutError {
  return new ToolscoutError('STORE_ERROR', 'Other processes keep changing this pending call.', {
    suggestion: 'Try again.',
    ...details,
  });
}

function notWaiting(id: string, pending: PendingCall | undefined): ToolscoutError {
  const by = pending?.ruling ? ` by ${pending.ruling.by}` : '';
  const was = pending ? `it is ${pending.state}${by}` : 'there is no such call';
  return new ToolscoutError('NOTHING_FOUND', `The call "${id}" is not pending: ${was}.`, {
    remedy: { kind: 'list-pending-calls' },
  });
}
