import type { SignInStatus } from '../../contract/sign-in.js';
import { openBrowserInteraction, type Grant } from '../../../connect/index.js';
import { hideIn, ToolscoutError, toToolscoutError } from '../../../kernel/errors.js';
import type { JsonValue } from '../../../kernel/json.js';
import type { AuditKind } from '../../../model/audit-record.js';
import type { Server } from '../../../model/server.js';
import type { Viewer } from '../../../model/viewer.js';
import type { Core } from '../../core.js';
import { defineVerbs, type VerbTable } from '../define-verbs.js';

/** How long a person has to sign in. */
const PATIENCE_MS = 300_000;

const words = (scope: string | undefined): string[] => (scope ?? '').split(' ').filter((word) => word !== '');

function viewGrant(server: string, grant: Grant | undefined, now: number, isMachine: boolean): SignInStatus {
  if (grant === undefined) return { server, state: 'signed-out' };
  const { issuer, resource, expiresAt } = grant;
  const renewable = grant.refreshToken !== undefined || isMachine;
  const granted = words(grant.scope);
  const missing = words(grant.wantedScope).filter((scope) => !granted.includes(scope));
  const isOver = expiresAt !== undefined && expiresAt <= now && !renewable;
  return {
    server,
    state: grant.accessToken === undefined ? 'signed-out' : isOver ? 'expired' : 'signed-in',
    issuer,
    resource,
    ...(granted.length > 0 && { scopes: granted }),
    ...(missing.length > 0 && { missingScopes: missing }),
    ...(expiresAt !== undefined && { expiresAt }),
    renewable,
  };
}

/** The verbs around signing in to a remote server (CONN-6). */
export function signInVerbs(core: Core): VerbTable<'servers.signIn' | 'servers.signOut' | 'servers.signInStatus'> {
  const { audit, cache, clock, signIns } = core.deps;
  const isMachine = ({ transport }: Server): boolean =>
    transport.type !== 'stdio' && transport.auth?.type === 'client-credentials';

  /** Where a server does not name its resource it is its URL, and a URL can hold a credential. */
  const view = (server: Server, grant: Grant | undefined): SignInStatus => {
    const status = viewGrant(server.id, grant, clock.now(), isMachine(server));
    return { ...status, ...(status.resource !== undefined && { resource: core.hide(status.resource) }) };
  };

  const sessionOf = (server: Server): ReturnType<NonNullable<typeof signIns>['session']> => signIns?.session(server);

  // A sign-in in another process: servers that failed for lack of one are asked again.
  signIns?.onChange(() => {
    for (const id of core.catalog.servers.keys()) {
      if (core.learner.failure(id)?.code === 'AUTHENTICATION_FAILED') core.relistSoon(id);
    }
  });

  /** A failure is recorded too: who tried to sign in where is part of what was done. */
  const recorded = async <T>(
    { principal }: Viewer,
    kind: AuditKind,
    server: Server,
    task: () => Promise<T>,
    detail: (done: T) => JsonValue,
  ): Promise<T> => {
    try {
      const done = await task();
      await audit.recordNow({ kind, principal, server: server.id, outcome: 'success', detail: detail(done) });
      return done;
    } catch (thrown) {
      const error = hideIn(toToolscoutError(thrown, 'AUTHENTICATION_FAILED'), (text) => core.hide(text));
      await audit.recordNow({
        kind,
        principal,
        server: server.id,
        outcome: 'failure',
        code: error.code,
        message: error.message,
      });
      throw error;
    }
  };

  return defineVerbs({
    async 'servers.signIn'(viewer, id, options) {
      await core.filled();
      const server = core.usable(id);
      const session = sessionOf(server);
      if (!session) {
        const reason =
          server.transport.type === 'stdio'
            ? 'it is a local process; give it its credentials in "env"'
            : 'its config or the environment has a credential for it already, and that one is used';
        throw new ToolscoutError('INVALID_REQUEST', `"${id}" does not use OAuth: ${reason}.`);
      }
      const { transport } = server;
      const port = transport.type === 'stdio' ? undefined : transport.auth?.redirectPort;
      const before = (await session.grant())?.client.redirectUri;
      const grant = await recorded(
        viewer,
        'sign-in',
        server,
        async () => {
          const interaction = isMachine(server)
            ? undefined
            : await openBrowserInteraction({
                server: id,
                clock,
                open: options.open,
                timeoutMs: options.timeoutMs ?? PATIENCE_MS,
                ...(options.paste && { paste: options.paste }),
                ...(options.signal && { signal: options.signal }),
                ...(port !== undefined && { port }),
                // An authorization server that is strict about ports has this one registered from the last time.
                ...(before !== undefined && { preferredPort: Number(new URL(before).port) }),
              });
          try {
            return await session.signIn({ interaction, scope: options.scopes?.join(' ') });
          } finally {
            await interaction?.close();
          }
        },
        ({ issuer, resource, scope }) => ({ issuer, resource, scope }),
      );
      // Another account may see other tools, and an earlier failure no longer counts.
      if (!core.learner.isLearning(id)) core.learner.forget(id);
      await cache.invalidate(server);
      return view(server, grant);
    },

    async 'servers.signOut'(viewer, id) {
      await core.filled();
      const server = core.catalog.server(id);
      const session = sessionOf(server);
      if (!session) return { removed: false, revoked: false };
      const done = await recorded(
        viewer,
        'sign-out',
        server,
        () => session.signOut(),
        (outcome) => ({ ...outcome }),
      );
      await cache.invalidate(server);
      return done;
    },

    async 'servers.signInStatus'(_viewer, id) {
      await core.filled();
      const server = core.catalog.server(id);
      if (server.transport.type === 'stdio') return { server: id, state: 'local' };
      const { problem } = server;
      const session = sessionOf(server);
      if (session) return { ...view(server, await session.grant()), ...(problem !== undefined && { problem }) };
      return problem === undefined ? { server: id, state: 'configured' } : { server: id, state: 'unusable', problem };
    },
  });
}
