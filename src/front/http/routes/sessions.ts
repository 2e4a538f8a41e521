import * as z from 'zod';
import { ReceivedRequest } from '../../../net/http-message.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { SessionVerbs } from '../../../gateway/index.js';
import type { Log } from '../../../kernel/log.js';
import { hasScope, LOCAL, SCOPES, type Principal } from '../../../model/principal.js';
import type { HttpAuth } from '../../../model/config.js';
import type { ConfiguredAuthenticator } from '../auth/auth.js';
import { demandCsrf, localAdministrator, type BrowserSessions } from '../auth/browser-sessions.js';
import { CALLBACK_PATH, reasonOf, type PersonSignIn } from '../auth/person-sign-in.js';
import { CODE_TICKET, PROBE_TICKET } from '../../code-ticket.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Problem, SessionState, SignInRequest } from '../openapi/schemas.js';

/** What signing in to the page is made of. */
export interface SessionRouteDeps {
  readonly auth: () => HttpAuth | undefined;
  readonly authenticator: ConfiguredAuthenticator;
  readonly browsers: BrowserSessions;
  readonly sessions: SessionVerbs;
  readonly people: PersonSignIn;
  readonly localAdmin: boolean;
  readonly ownFlags?: () => OwnFlags;
  readonly log: Log;
}

/** What a command in a terminal needs to reach this toolscout, where it is not what it would use anyway. */
export interface OwnFlags {
  /** The folder of the state; `memory` where there is none. */
  readonly stateDir?: string;
  /** The config file. */
  readonly config?: string;
  /** It serves the demo servers instead of a config. */
  readonly demo?: true;
}

const NO_STORE = { 'cache-control': 'no-store' };

/** Signing in, who is signed in, and signing out (STUDIO-6). */
export function sessionRoutes(deps: SessionRouteDeps): Route[] {
  const { auth, authenticator, browsers, sessions, people, localAdmin, ownFlags, log } = deps;

  const whoAsks = async (request: Request): Promise<Principal | undefined> => {
    try {
      return await authenticator.authenticate(new ReceivedRequest(request), { cookie: true });
    } catch (thrown) {
      if (thrown instanceof ToolscoutError && thrown.code === 'UNAUTHENTICATED') return undefined;
      throw thrown;
    }
  };

  const stateOf = (principal: Principal | undefined): Record<string, unknown> => {
    const required = auth() !== undefined;
    const methods = [...(required ? ['key'] : []), ...(people.isOffered() ? ['oauth'] : [])];
    if (!principal) return { signedIn: false, required, scopes: [], mayAdminister: false, methods };
    const mayAdminister = hasScope(principal, 'admin') && (principal !== LOCAL || localAdmin);
    const { name, servers, session } = principal;
    return {
      signedIn: true,
      required,
      principal: name,
      scopes: SCOPES.filter((scope) => hasScope(principal, scope)),
      ...(servers && { servers: [...servers].toSorted() }),
      mayAdminister,
      ...(session && { csrf: session.csrf, until: principal.until }),
      methods,
      // Who signs in by a key needs no command, and no path of this machine.
      ...(!required && ownFlags?.()),
    };
  };

  /** Whether a ticket of the store of the caller is one of ours. */
  const sharesStore = async (probe: string): Promise<boolean> =>
    (await sessions.takeTicket(PROBE_TICKET, probe)) !== undefined;

  /** Whom a key or a code lets in. */
  const admitted = async (given: { readonly key?: string; readonly code?: string }): Promise<Principal | undefined> => {
    if (given.key !== undefined) return authenticator.holderOf(given.key);
    const isGood = (await sessions.takeTicket(CODE_TICKET, given.code ?? '')) !== undefined;
    return isGood ? localAdministrator() : undefined;
  };

  return [
    route({
      id: 'showSession',
      group: 'studio',
      method: 'GET',
      path: '/v1/session',
      summary: 'Who is signed in, and how one can be',
      query: z.object({
        probe: z.string().max(200).optional().meta({
          description: 'A ticket that `toolscout studio` wrote to its store; good once, and for nothing else.',
        }),
      }),
      responses: { 200: { description: 'The session.', content: { 'application/json': SessionState } } },
      async handle({ request, query: { probe }, reply }) {
        const state = stateOf(await whoAsks(request));
        const found = probe === undefined ? state : { ...state, sharesStore: await sharesStore(probe) };
        return reply(found, { headers: NO_STORE });
      },
    }),
    route({
      id: 'signIn',
      group: 'studio',
      method: 'POST',
      path: '/v1/session',
      summary: 'Signs a browser in with a key',
      body: SignInRequest,
      responses: {
        200: { description: 'The session; its cookie is set.', content: { 'application/json': SessionState } },
        401: { description: 'The key or code is not valid.', content: { [PROBLEM_TYPE]: Problem } },
      },
      async handle({ request, body, reply }) {
        const principal = await admitted(body);
        if (!principal) {
          log.info('http.sign-in', { reason: body.key === undefined ? 'unknown code' : 'unknown key' });
          throw body.key === undefined
            ? new ToolscoutError('UNAUTHENTICATED', 'This code is unknown, has expired or was used already.', {
                suggestion: 'Run toolscout studio again: it opens the page with a new code.',
              })
            : new ToolscoutError('UNAUTHENTICATED', 'Invalid API key.', {
                suggestion: 'Enter a key that http.auth of the config names.',
              });
        }
        const { token, cookie } = await browsers.open(principal, body.key === undefined ? 'code' : 'key', request);
        const state = stateOf(await authenticator.bySession(token));
        return reply(state, { headers: { ...NO_STORE, 'set-cookie': cookie } });
      },
    }),
    route({
      id: 'signOut',
      group: 'studio',
      method: 'DELETE',
      path: '/v1/session',
      summary: 'Signs a browser out',
      responses: { 204: { description: 'The session has ended, in all processes; its cookie is gone.' } },
      async handle({ request, reply }) {
        const principal = await whoAsks(request);
        if (principal) demandCsrf(principal, request);
        const cookie = await browsers.end(request);
        return reply(undefined, { status: 204, headers: { ...NO_STORE, 'set-cookie': cookie } });
      },
    }),
    route({
      id: 'startSignIn',
      group: 'studio',
      method: 'GET',
      path: '/v1/session/oauth/start',
      summary: 'Sends a browser to the identity provider',
      responses: {
        303: { description: 'To the identity provider.', headers: { Location: 'Where to go.' } },
        404: { description: 'No identity provider is configured.', content: { [PROBLEM_TYPE]: Problem } },
        502: { description: 'The identity provider cannot be reached.', content: { [PROBLEM_TYPE]: Problem } },
      },
      async handle({ request, reply }) {
        const { url, cookie } = await people.start(request);
        return reply(undefined, { status: 303, headers: { ...NO_STORE, location: url, 'set-cookie': cookie } });
      },
    }),
    route({
      id: 'finishSignIn',
      group: 'studio',
      method: 'GET',
      path: CALLBACK_PATH,
      summary: 'Where the identity provider sends a browser back to',
      responses: {
        303: { description: 'To the page.', headers: { Location: '`/`, with the reason after a failure.' } },
      },
      async handle({ request, reply }) {
        const headers: Record<string, string> = { ...NO_STORE };
        try {
          const principal = await people.finish(request);
          headers['set-cookie'] = (await browsers.open(principal, 'oauth', request)).cookie;
          headers['location'] = '/';
        } catch (thrown) {
          headers['location'] = `/#/sign-in?error=${reasonOf(thrown, log)}`;
        }
        const answer = reply(undefined, { status: 303, headers });
        answer.headers.append('set-cookie', people.forget(request));
        return answer;
      },
    }),
  ];
}
