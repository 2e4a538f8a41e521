import { randomBytes } from 'node:crypto';
import type { Audit } from '../audit/index.js';
import { createEmitter } from '../kernel/async/emitter.js';
import type { Clock } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { isAhead, isOver } from '../kernel/expiry.js';
import { surplusOf } from '../kernel/fair-share.js';
import { sha256 } from '../kernel/hash.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { SCOPES, type Scope } from '../model/principal.js';
import type { Entry, Store } from '../model/store.js';
import { SESSION_LIFETIME_MS, type NewSession, type Session, type SessionVerbs } from './contract/sessions.js';

const SPACE = 'sessions';
const TICKETS = 'session-tickets';

/** A session also ends after this time without a request. */
const IDLE_MS = 3_600_000;
/** That a session was seen is written at most this often. */
const NOTE_AFTER_MS = 60_000;
/** Sessions, and tickets, kept at once; then the oldest of the principal, or of the kind, that has most gives way. */
const MAX_KEPT = 1000;

const TOKEN = /^[\w-]{43}$/;
const newToken = (): string => randomBytes(32).toString('base64url');

/** What sessions are made of. */
interface SessionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly audit: Audit;
}

/** When a session ends unless it is seen again, and when it does in any case. */
interface Ends {
  readonly until: number;
  readonly idleUntil: number;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const isScope = (value: unknown): value is Scope => (SCOPES as readonly unknown[]).includes(value);
const textsOf = (value: JsonValue | undefined): string[] | undefined =>
  Array.isArray(value) ? value.filter(isText) : undefined;

/** A stored session; `undefined` for what none of us has written. */
function readSession({ key, value }: Entry): (Session & { readonly seenAt: number }) | undefined {
  if (!isObject(value)) return undefined;
  const { by, principal, scopes, servers, credential, until, seenAt } = value;
  if (!isText(by) || !isText(principal) || typeof until !== 'number' || typeof seenAt !== 'number') return undefined;
  if (by !== 'key' && by !== 'oauth' && by !== 'code') return undefined;
  const seen = textsOf(servers);
  return {
    id: key,
    by,
    principal,
    scopes: (textsOf(scopes) ?? []).filter(isScope),
    // An unreadable value must not widen what the session sees.
    ...(servers !== undefined && { servers: seen ?? [] }),
    ...(isText(credential) && { credential }),
    until,
    seenAt,
  };
}

/** Who takes the place of an entry: the principal of a session, or the kind of a ticket. Only who can open the store gets tickets. */
function ownerOf({ value }: Entry): string {
  return isObject(value) ? JSON.stringify([value['principal'] ?? null, value['kind'] ?? null]) : '';
}

/** The sessions of browsers over one store, and the tickets that lead to them. `close` stops listening to the store. */
export function createSessions(deps: SessionDeps): SessionVerbs & { close(): void } {
  const { store, clock, log, audit } = deps;
  const ended = createEmitter<string>((thrown) => log.error('session.listener', { error: messageOf(thrown) }));
  /** Sessions that were found here. */
  const live = new Map<string, Ends>();
  /** Sessions that ended here a moment ago: a request that read the store before that must not bring one back. */
  const gone = new Set<string>();

  const drop = (id: string): void => {
    if (gone.size >= MAX_KEPT) gone.delete(gone.values().next().value!);
    gone.add(id);
    if (live.delete(id)) ended.emit(id);
  };

  const endsOf = ({ until, seenAt }: { readonly until: number; readonly seenAt: number }): Ends => ({
    until,
    idleUntil: seenAt + IDLE_MS,
  });

  const isEnded = ({ until, idleUntil }: Ends): boolean =>
    isOver(until, SESSION_LIFETIME_MS, clock.now()) || isOver(idleUntil, IDLE_MS, clock.now());

  /** Another process has opened, ended or seen sessions. */
  const follow = async (): Promise<void> => {
    if (live.size === 0) return;
    const kept = new Map((await store.list(SPACE)).map((entry) => [entry.key, readSession(entry)]));
    for (const id of live.keys()) {
      const session = kept.get(id);
      if (session) live.set(id, endsOf(session));
      else drop(id);
    }
  };
  const unwatch = store.onChange((space) => {
    if (space !== SPACE) return;
    follow().catch((thrown: unknown) => log.warn('session.unread', { reason: messageOf(thrown) }));
  });

  /** Makes room: what has expired goes, then the oldest. */
  const prune = async (space: string): Promise<void> => {
    const entries = await store.list(space);
    const isStale = ({ expiresAt = 0, storedAt }: Entry): boolean =>
      expiresAt <= clock.now() || isAhead(storedAt, clock.now());
    const alive = entries.filter((entry) => !isStale(entry)).toSorted((a, b) => a.storedAt - b.storedAt);
    const surplus = surplusOf(alive, ownerOf, MAX_KEPT - 1);
    for (const { key } of [...entries.filter(isStale), ...surplus]) {
      await store.delete(space, key);
      if (space === SPACE) drop(key);
    }
  };

  const note = async (entry: Entry, seenAt: number): Promise<void> => {
    const value = { ...(entry.value as JsonObject), seenAt };
    // A session that was ended meanwhile has another revision, and stays ended.
    await store.put(SPACE, entry.key, value, { expiresAt: seenAt + IDLE_MS, ifRevision: entry.revision });
  };

  return {
    async open(given: NewSession) {
      await prune(SPACE);
      for (const [id, ends] of live) if (isEnded(ends)) drop(id);
      const token = newToken();
      const now = clock.now();
      const { until = Infinity, ...session } = given;
      const value = { ...session, until: Math.min(until, now + SESSION_LIFETIME_MS), seenAt: now };
      await store.put(SPACE, sha256(token), value as unknown as JsonObject, { expiresAt: now + IDLE_MS });
      await audit.recordNow({
        kind: 'session-open',
        principal: given.principal,
        outcome: 'success',
        detail: { by: given.by },
      });
      return token;
    },

    async find(token) {
      if (!TOKEN.test(token)) return undefined;
      const id = sha256(token);
      const entry = await store.get(SPACE, id);
      const session = entry && readSession(entry);
      if (!entry || !session || gone.has(id) || isEnded(endsOf(session))) {
        if (live.has(id)) drop(id);
        return undefined;
      }
      const now = clock.now();
      live.set(id, endsOf({ until: session.until, seenAt: now }));
      if (now - session.seenAt >= NOTE_AFTER_MS) await note(entry, now);
      const { seenAt: _seenAt, ...found } = session;
      return found;
    },

    async end(token) {
      const id = sha256(token);
      const entry = await store.get(SPACE, id);
      const session = entry && readSession(entry);
      await store.delete(SPACE, id);
      drop(id);
      if (!session) return;
      await audit.recordNow({ kind: 'session-end', principal: session.principal, outcome: 'success' });
    },

    isLive(id) {
      const ends = live.get(id);
      return ends !== undefined && !isEnded(ends);
    },

    onEnd: (listener) => ended.on(listener),

    async issueTicket(kind, value, lifetimeMs) {
      await prune(TICKETS);
      const ticket = newToken();
      const expiresAt = clock.now() + lifetimeMs;
      await store.put(TICKETS, sha256(ticket), { kind, value }, { expiresAt });
      return ticket;
    },

    async takeTicket(kind, ticket) {
      if (!TOKEN.test(ticket)) return undefined;
      const key = sha256(ticket);
      const entry = await store.get(TICKETS, key);
      if (!entry || !isObject(entry.value) || entry.value['kind'] !== kind) return undefined;
      // Of several who bring it at once, also to several processes, one deletes it.
      if (!(await store.delete(TICKETS, key))) return undefined;
      const isStale = (entry.expiresAt ?? 0) <= clock.now() || isAhead(entry.storedAt, clock.now());
      return isStale ? undefined : entry.value['value'];
    },

    close: unwatch,
  };
}
