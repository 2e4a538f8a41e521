import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../kernel/clock.js';
import { messageOf, ToolscoutError, toToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { Remedy } from '../../kernel/remedy.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { AuthConfig } from '../../model/config.js';
import type { FlowDeps } from './client.js';
import type { Challenge, Site } from './discovery.js';
import { createEndpointFetch, type EndpointScope } from './endpoint.js';
import type { Interaction } from './flow.js';
import type { Grant, Grants } from './grants.js';

/** A token is renewed this long before it ends, or a fifth of its life if that is shorter. */
const RENEW_BEFORE_MS = 30_000;

/** Characters of the scopes that a server may ask for, together with those that it asked for before. */
const MAX_WANTED = 4000;

/** A 401 or 403 response of a server. */
export interface Rejection extends Challenge {
  readonly status: 401 | 403;
}

/** The sign-in to one server: hands out the token to send, and sees to a new one when that is refused. */
export interface SignInSession {
  /** The token to send now, renewed when it is about to end; `undefined` without a sign-in. */
  token(): Promise<string | undefined>;
  /**
   * Called when a request with the token `sent` was refused. Resolves when another attempt makes sense.
   *
   * @throws ToolscoutError `AUTHENTICATION_FAILED` when a person has to act.
   */
  recover(rejection: Rejection, sent: string | undefined): Promise<void>;
  /** Signs in again: a person, or toolscout itself with client credentials. */
  signIn(options?: { readonly interaction?: Interaction; readonly scope?: string }): Promise<Grant>;
  /** Forgets the sign-in, and has it revoked where that is offered. */
  signOut(): Promise<{ readonly removed: boolean; readonly revoked: boolean }>;
  /** What is known, from the store. */
  grant(): Promise<Grant | undefined>;
  /** What is kept in memory may be out of date. */
  forget(): void;
  /** What to do when the server refuses a new token as well. */
  readonly remedyIfRefused: Remedy;
}

/** What a session is made of. */
export interface SignInSessionDeps {
  readonly scope: EndpointScope;
  readonly auth: AuthConfig;
  readonly grants: Grants;
  readonly clock: Clock;
  readonly log: Log;
  readonly mask: (text: string) => string;
  readonly fetch?: typeof globalThis.fetch;
  /** Where a person can be asked at any time; without it the error names the command to run. */
  readonly interact?: (previous: Grant | undefined) => Promise<Interaction>;
}

/** Loaded for a sign-in or a renewal: most starts need neither. */
const loadFlow = (): Promise<typeof import('./flow.js')> => import('./flow.js');
const loadDiscovery = (): Promise<typeof import('./discovery.js')> => import('./discovery.js');

/** A session; nothing is read before it is needed. */
export function createSignInSession(deps: SignInSessionDeps): SignInSession {
  const { scope, auth, grants, clock, log } = deps;
  const { server } = scope;
  const fetchFn: FetchLike = createEndpointFetch(scope, { clock, fetch: deps.fetch });
  const flow: FlowDeps = { scope, auth, fetchFn, now: () => clock.now(), mask: deps.mask };
  const isMachine = auth.type === 'client-credentials';

  let known: { readonly grant: Grant | undefined } | undefined;
  /** One at a time in this process; the lock of the store keeps other processes apart. */
  let turn: Promise<unknown> = Promise.resolve();

  async function read(): Promise<Grant | undefined> {
    const grant = await grants.read(scope);
    known = { grant };
    return grant;
  }

  async function keep(grant: Grant): Promise<Grant> {
    await grants.write(grant);
    known = { grant };
    return grant;
  }

  /** Many calls that find the token ending share one renewal. */
  let renewing: Promise<Grant | undefined> | undefined;

  function renewOnce(sent: string | undefined): Promise<Grant | undefined> {
    renewing ??= inTurn(() => renewed(sent)).finally(() => (renewing = undefined));
    return renewing;
  }

  function inTurn<T>(task: () => Promise<T>): Promise<T> {
    const done = turn.then(task, task);
    turn = done.catch(() => undefined);
    return done;
  }

  const discover = async (challenge: Challenge): Promise<Site> =>
    (await loadDiscovery()).discoverSite(scope, auth, challenge, fetchFn);

  /** Tokens are void; who toolscout is at that authorization server is still known. */
  async function dropTokens(grant: Grant): Promise<void> {
    await keep({ ...grant, accessToken: undefined, refreshToken: undefined, expiresAt: undefined });
  }

  /** Renews under the lock, unless another process has done so since `sent` was read. */
  function renewed(sent: string | undefined): Promise<Grant | undefined> {
    return grants.exclusively(scope, async () => {
      const grant = await read();
      if (grant?.accessToken !== undefined && grant.accessToken !== sent) return grant;
      if (grant?.refreshToken === undefined) return undefined;
      const [{ renew }, { isVoid }] = await Promise.all([loadFlow(), import('./client.js')]);
      try {
        const next = await keep(await renew(grant, flow));
        log.debug('oauth.renewed', { server, issuer: next.issuer });
        return next;
      } catch (thrown) {
        if (!isVoid(thrown)) throw thrown;
        log.warn('oauth.void', { server, issuer: grant.issuer, reason: messageOf(thrown) });
        await dropTokens(grant);
        return undefined;
      }
    });
  }

  function signInMachine(site: Site, wantedScope: string | undefined, sent?: string): Promise<Grant> {
    return grants.exclusively(scope, async () => {
      const previous = await read();
      const isFresh = previous?.accessToken !== undefined && previous.accessToken !== sent && !isEnding(previous);
      if (isFresh && wantedScope === undefined && belongsTo(previous, site)) return previous;
      const { signInClient } = await loadFlow();
      return keep(await signInClient(site, { previous, wantedScope }, flow));
    });
  }

  async function signInWith(interaction: Interaction, site: Site, wantedScope: string | undefined): Promise<Grant> {
    const { signInPerson } = await loadFlow();
    const previous = await read();
    try {
      return await keep(await signInPerson(site, { interaction, previous, wantedScope }, flow));
    } finally {
      await interaction.close();
    }
  }

  function isEnding(grant: Grant): boolean {
    if (grant.expiresAt === undefined) return false;
    const life = grant.expiresAt - (grant.obtainedAt ?? 0);
    return clock.now() >= grant.expiresAt - Math.min(RENEW_BEFORE_MS, life / 5);
  }

  const checkAuth: Remedy = { kind: 'configure', what: `Check servers.${server}.auth in the config.` };

  function loginNeeded(reason: string): ToolscoutError {
    return new ToolscoutError('AUTHENTICATION_FAILED', reason, {
      remedy: isMachine ? checkAuth : { kind: 'sign-in', server },
      delivered: false,
    });
  }

  /** A 401: another process may have a newer token, the server may have moved to another authorization server. */
  async function recoverToken(rejection: Rejection, sent: string | undefined): Promise<void> {
    const grant = await read();
    if (grant?.accessToken !== undefined && grant.accessToken !== sent) return;
    if (!isMachine && !deps.interact && grant === undefined) {
      throw loginNeeded(`The server "${server}" asks for a sign-in or a token.`);
    }
    const found = await discover(rejection).catch((thrown: unknown) => toToolscoutError(thrown));
    // A bad moment of the server's metadata does not keep us from renewing where the grant came from.
    const mine = grant && (found instanceof ToolscoutError || belongsTo(grant, found)) ? grant : undefined;
    if (!isMachine && mine?.refreshToken !== undefined && (await renewed(sent))) return;
    if (found instanceof ToolscoutError) throw found;
    const site = found;
    if (isMachine) {
      await signInMachine(site, rejection.scope, sent);
      return;
    }
    if (deps.interact) {
      await signInWith(await deps.interact(mine), site, rejection.scope);
      return;
    }
    if (grant && !mine) {
      await dropTokens(grant);
      throw loginNeeded(
        `The server "${server}" now uses another authorization server; the previous sign-in is no longer valid.`,
      );
    }
    throw loginNeeded(
      sent === undefined
        ? `The server "${server}" asks for a sign-in or a token.`
        : `The sign-in to "${server}" has ended or was revoked.`,
    );
  }

  /** A 403 for a missing scope: requests more scopes, never fewer than before. */
  async function recoverScope(rejection: Rejection, sent: string | undefined): Promise<void> {
    const grant = await read();
    if (grant?.accessToken !== undefined && grant.accessToken !== sent) return;
    const { computeScopeUnion } = await import('@modelcontextprotocol/client');
    const isAsked = (rejection.scope?.length ?? 0) <= MAX_WANTED;
    const asked = isAsked ? rejection.scope : undefined;
    const all = computeScopeUnion(grant?.scope, grant?.wantedScope, asked);
    // A server that asks for something else each time must not make it grow: then only its latest wish counts.
    const wanted =
      (all?.length ?? 0) <= MAX_WANTED ? all : computeScopeUnion(grant?.scope, asked ?? grant?.wantedScope);
    if (isMachine) {
      await signInMachine(await discover(rejection), wanted, sent);
      return;
    }
    if (deps.interact) {
      const site = await discover(rejection);
      await signInWith(await deps.interact(grant), site, wanted);
      return;
    }
    if (grant && wanted !== undefined) await keep({ ...grant, wantedScope: wanted });
    const missing = rejection.scope === undefined ? '' : ` (${oneLine(printable(rejection.scope), 100)})`;
    throw loginNeeded(`The sign-in to "${server}" lacks a scope that the server requires${missing}.`);
  }

  return {
    async token() {
      const grant = known ? known.grant : await read();
      if (grant?.accessToken === undefined || !isEnding(grant)) return grant?.accessToken;
      if (grant.refreshToken === undefined) return grant.accessToken;
      try {
        const next = await renewOnce(grant.accessToken);
        if (next) return next.accessToken;
      } catch (thrown) {
        // A bad moment of the authorization server does not matter as long as the token still holds.
        if (grant.expiresAt === undefined || clock.now() >= grant.expiresAt) throw thrown;
        log.warn('oauth.unrenewed', { server, reason: messageOf(thrown) });
        return grant.accessToken;
      }
      throw loginNeeded(`The sign-in to "${server}" has ended or was revoked.`);
    },

    recover: (rejection, sent) =>
      inTurn(() => (rejection.status === 401 ? recoverToken(rejection, sent) : recoverScope(rejection, sent))),

    async signIn(options = {}) {
      const site = await discover({});
      const previous = await read();
      if (isMachine) return signInMachine(site, options.scope ?? previous?.wantedScope, previous?.accessToken);
      if (!options.interaction) throw loginNeeded(`The server "${server}" needs a sign-in.`);
      const { computeScopeUnion } = await import('@modelcontextprotocol/client');
      const wanted = computeScopeUnion(options.scope, previous?.wantedScope);
      return signInWith(options.interaction, site, wanted);
    },

    async signOut() {
      const grant = await read();
      let revoked = false;
      if (grant) {
        const { revoke } = await loadFlow();
        revoked = await revoke(grant, flow).catch((thrown: unknown) => {
          // What is forgotten here is of no use to us any more, whether or not the other side heard of it.
          log.warn('oauth.unrevoked', { server, reason: messageOf(thrown) });
          return false;
        });
      }
      known = { grant: undefined };
      return { removed: await grants.remove(scope), revoked };
    },

    grant: read,
    remedyIfRefused: isMachine ? checkAuth : { kind: 'sign-in', server, again: true },

    forget() {
      known = undefined;
    },
  };
}

/** Whether a grant may be used where this site says: same issuer, same resource (S15). */
function belongsTo(grant: Grant, site: Site): boolean {
  return grant.issuer === site.issuer && grant.resource === site.resource;
}
