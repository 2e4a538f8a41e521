import * as z from 'zod';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Approval, Introspection, IntrospectionRequest, Problem, ProposedServer } from '../openapi/schemas.js';

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const id = z.object({ id: z.string().min(1).max(500) });

/** Servers that are proposed, looked at before they are approved, and removed again (SEC-9). */
export function registrationRoutes(): Route[] {
  return [
    route({
      id: 'registerServer',
      group: 'admin',
      method: 'POST',
      path: '/v1/servers',
      summary: 'Proposes a server; it is pending and starts nothing until it is approved',
      scope: 'admin',
      whole: true,
      body: ProposedServer,
      responses: {
        201: { description: 'The approval request.', content: { 'application/json': Approval } },
        400: problem('The server cannot be registered.'),
      },
      handle: async ({ body, gateway, reply }) =>
        reply(Approval.parse(await gateway.servers.register(body)), { status: 201 }),
    }),
    route({
      id: 'introspectServer',
      group: 'admin',
      method: 'POST',
      path: '/v1/introspections',
      summary: 'Asks a URL, or a registered server that is not approved, for its tools; calls none and trusts nothing',
      scope: 'admin',
      whole: true,
      body: IntrospectionRequest,
      responses: {
        201: {
          description: 'What it has, the approval request and the files to review.',
          content: { 'application/json': Introspection },
        },
        400: problem('The URL or the server cannot be introspected.'),
        403: problem('The address is not public, or the server is a local program.'),
        '5XX': problem('The server could not be asked.'),
      },
      handle: async ({ body, gateway, reply }) =>
        reply(Introspection.parse(await gateway.servers.introspect(body)), { status: 201 }),
    }),
    route({
      id: 'unregisterServer',
      group: 'admin',
      method: 'DELETE',
      path: '/v1/servers/{id}',
      summary: 'Removes a registered server and the trust in it; servers of the config are not touched',
      scope: 'admin',
      whole: true,
      params: id,
      responses: { 204: { description: 'It is removed.' }, 404: problem('No such server is registered.') },
      async handle({ params, gateway, reply }) {
        await gateway.servers.unregister(params.id);
        return reply(null, { status: 204 });
      },
    }),
  ];
}
