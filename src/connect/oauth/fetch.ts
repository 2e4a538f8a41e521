import { extractWWWAuthenticateParams } from '@modelcontextprotocol/client';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Rejection, SignInSession } from './session.js';

/** How often one request is tried again for more scope (S15). */
const MAX_STEP_UPS = 2;

/** The details of a 401, or of a 403 for a missing scope; `undefined` for every other answer. */
function readRejection(response: Response): Rejection | undefined {
  const { status } = response;
  if (status !== 401 && status !== 403) return undefined;
  const { resourceMetadataUrl, scope, error } = extractWWWAuthenticateParams(response);
  if (status === 403 && error !== 'insufficient_scope') return undefined;
  return {
    status,
    ...(resourceMetadataUrl && { resourceMetadataUrl: resourceMetadataUrl.href }),
    ...(scope !== undefined && { scope }),
  };
}

/**
 * A `fetch` for the requests to one server that carries the token of its sign-in, and tries again
 * with a new one when it is refused: once for a token, a few times for scope. A refused request was
 * not carried out, so that sending it again is safe.
 */
export function withSession(
  send: typeof globalThis.fetch,
  session: SignInSession,
  server: string,
): typeof globalThis.fetch {
  return async (input, init) => {
    let renewals = 0;
    let stepUps = 0;
    for (;;) {
      const token = await session.token();
      const headers = new Headers(init?.headers);
      if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
      const response = await send(input, { ...init, headers });
      const rejection = readRejection(response);
      if (!rejection) return response;
      await response.body?.cancel();
      const isLast = rejection.status === 401 ? renewals++ >= 1 : stepUps++ >= MAX_STEP_UPS;
      if (isLast) {
        throw new ToolscoutError(
          'AUTHENTICATION_FAILED',
          `The server "${server}" also refused the new access token (HTTP ${rejection.status}).`,
          { remedy: session.remedyIfRefused, delivered: false },
        );
      }
      await session.recover(rejection, token);
    }
  };
}
