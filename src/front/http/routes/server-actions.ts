import * as z from 'zod';
import type { Gateway, SignInStatus } from '../../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import type { Log } from '../../../kernel/log.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Problem, ServerActed, UpstreamSignIn, UpstreamSignInRequest } from '../openapi/schemas.js';

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const params = z.object({ id: z.string().min(1).max(500) });

/** A sign-in that was begun here and waits for a browser. */
interface OpenSignIn {
  readonly url: string;
  readonly done: Promise<SignInStatus>;
  readonly abort: AbortController;
  readonly paste: (address: string) => void;
}

/** Begins to sign in; answers when there is an address to open, or when no person is needed. */
function beginSignIn(gateway: Gateway, server: string): Promise<OpenSignIn | SignInStatus> {
  const abort = new AbortController();
  let paste: (address: string) => void = () => undefined;
  const pasted = new Promise<string>((resolve) => {
    paste = resolve;
  });
  return new Promise((resolve, reject) => {
    const done: Promise<SignInStatus> = gateway.servers.signIn(server, {
      signal: abort.signal,
      paste: () => pasted,
      // It may be called before `done` is there.
      open: (url) => queueMicrotask(() => resolve({ url, done, abort, paste })),
    });
    // The caller of this function learns the end from `done`; here it matters only when it comes before the address.
    done.then(resolve, reject);
  });
}

const isOpen = (begun: OpenSignIn | SignInStatus): begun is OpenSignIn => 'done' in begun;

/** What an operator does with one server: connect, disconnect, ask again, sign in. */
export function serverActionRoutes({ log }: { readonly log: Log }): Route[] {
  const signIns = new Map<string, OpenSignIn>();
  const failures = new Map<string, string>();

  const follow = (id: string, begun: OpenSignIn): void => {
    signIns.set(id, begun);
    const forget = (): boolean => signIns.get(id) === begun && signIns.delete(id);
    begun.done.then(forget, (thrown: unknown) => {
      // One that was begun anew is no failure.
      if (!forget()) return;
      failures.set(id, messageOf(thrown));
      log.info('sign-in.failed', { server: id, reason: messageOf(thrown) });
    });
  };

  const statusOf = async (gateway: Gateway, id: string): Promise<unknown> => {
    const status = await gateway.servers.signInStatus(id);
    const [url, failed] = [signIns.get(id)?.url, failures.get(id)];
    return UpstreamSignIn.parse({
      ...status,
      ...(url !== undefined && { url }),
      ...(failed !== undefined && { failed }),
    });
  };

  const act = (
    name: 'connect' | 'disconnect' | 'discover',
    summary: string,
    task: (gateway: Gateway, id: string) => Promise<unknown>,
  ): Route =>
    route({
      id: `${name}Server`,
      group: 'admin',
      method: 'POST',
      path: `/v1/servers/{id}/${name}`,
      summary,
      scope: 'admin',
      whole: true,
      params,
      responses: {
        200: { description: 'How it is connected now.', content: { 'application/json': ServerActed } },
        404: problem('There is no such server.'),
        ...(name !== 'disconnect' && { '5XX': problem('The server could not be reached.') }),
      },
      async handle({ params: { id }, gateway, reply }) {
        await gateway.studio.server(id);
        await task(gateway, id);
        const { view } = await gateway.studio.server(id);
        return reply(ServerActed.parse({ server: id, state: view.health.state }));
      },
    });

  return [
    act('connect', 'Connects to a server', (gateway, id) => gateway.servers.connect(id)),
    act('disconnect', 'Closes the connections to a server', (gateway, id) => gateway.servers.disconnect(id)),
    act('discover', 'Asks a server for its tools again', async (gateway, id) => {
      const [outcome] = await gateway.servers.discover([id]);
      if (outcome && !outcome.ok) throw outcome.error;
    }),
    route({
      id: 'showServerSignIn',
      group: 'admin',
      method: 'GET',
      path: '/v1/servers/{id}/sign-in',
      summary: 'The state of the sign-in to a server, and whether it waits for a browser',
      scope: 'admin',
      whole: true,
      params,
      responses: {
        200: { description: 'The sign-in.', content: { 'application/json': UpstreamSignIn } },
        404: problem('There is no such server.'),
      },
      handle: async ({ params: { id }, gateway, reply }) => reply(await statusOf(gateway, id)),
    }),
    route({
      id: 'signInServer',
      group: 'admin',
      method: 'POST',
      path: '/v1/servers/{id}/sign-in',
      summary: 'Begins to sign in to a server',
      scope: 'admin',
      whole: true,
      params,
      body: UpstreamSignInRequest,
      responses: {
        200: { description: 'The sign-in, with the address to open.', content: { 'application/json': UpstreamSignIn } },
        404: problem('There is no such server.'),
        '5XX': problem('The server or its authorization server could not be reached.'),
      },
      async handle({ params: { id }, body, gateway, reply }) {
        if (body?.redirected !== undefined) {
          const begun = signIns.get(id);
          if (!begun) {
            throw new ToolscoutError('INVALID_REQUEST', `No sign-in to "${id}" waits for a redirect.`, {
              suggestion: `Start one: POST /v1/servers/${id}/sign-in without "redirected".`,
            });
          }
          begun.paste(body.redirected);
          await begun.done;
          return reply(await statusOf(gateway, id));
        }
        await gateway.servers.signInStatus(id);
        const before = signIns.get(id);
        signIns.delete(id);
        before?.abort.abort();
        failures.delete(id);
        const begun = await beginSignIn(gateway, id);
        if (isOpen(begun)) follow(id, begun);
        return reply(await statusOf(gateway, id));
      },
    }),
  ];
}
