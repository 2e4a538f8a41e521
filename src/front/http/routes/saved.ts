import * as z from 'zod';
import { ToolscoutError } from '../../../kernel/errors.js';
import { oneLine, printable } from '../../../kernel/text.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Label, LabelList, LabelRequest, Problem, SavedCallList, SaveCallsRequest } from '../openapi/schemas.js';

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const NO_STORE = { 'cache-control': 'no-store' };
const EXPORTED = { 'content-disposition': 'attachment; filename="toolscout-saved-calls.json"' };

/** What people keep while they look: labelled queries and calls (STUDIO-4, STUDIO-5). */
export function savedRoutes(): Route[] {
  return [
    route({
      id: 'addLabel',
      group: 'studio',
      method: 'POST',
      path: '/v1/labels',
      summary: 'Appends a labelled query to the file that `toolscout eval` reads',
      scope: 'admin',
      whole: true,
      body: LabelRequest,
      responses: {
        201: { description: 'The line.', content: { 'application/json': Label } },
        404: problem('There is no such tool.'),
      },
      handle: async ({ body, gateway, reply }) => reply(await gateway.studio.addLabel(body), { status: 201 }),
    }),
    route({
      id: 'listLabels',
      group: 'studio',
      method: 'GET',
      path: '/v1/labels',
      summary: 'The labelled queries and the file they stand in',
      scope: 'admin',
      whole: true,
      responses: {
        200: { description: 'Oldest first.', content: { 'application/json': LabelList } },
        400: problem('This toolscout keeps no state.'),
      },
      handle: async ({ gateway, reply }) => reply(LabelList.parse(await gateway.studio.labels())),
    }),
    route({
      id: 'listSavedCalls',
      group: 'studio',
      method: 'GET',
      path: '/v1/saved-calls',
      summary: 'The calls that this caller keeps',
      scope: 'call',
      query: z.object({ format: z.enum(['json']).optional().meta({ description: 'As a file to download.' }) }),
      responses: { 200: { description: 'Newest first.', content: { 'application/json': SavedCallList } } },
      async handle({ query, gateway, reply }) {
        const calls = await gateway.studio.savedCalls();
        return reply(SavedCallList.parse({ calls }), { headers: { ...NO_STORE, ...(query.format && EXPORTED) } });
      },
    }),
    route({
      id: 'saveCalls',
      group: 'studio',
      method: 'POST',
      path: '/v1/saved-calls',
      summary: 'Keeps a call, or all calls of an export',
      scope: 'call',
      body: SaveCallsRequest,
      responses: {
        201: { description: 'What was added.', content: { 'application/json': SavedCallList } },
        400: problem('A call is not valid, or there are too many.'),
      },
      async handle({ body, gateway, reply }) {
        const given = 'calls' in body ? body.calls : [body];
        const calls = given.map(({ name, server, tool, arguments: args }) => ({ name, server, tool, arguments: args }));
        return reply(SavedCallList.parse({ calls: await gateway.studio.saveCalls(calls) }), { status: 201 });
      },
    }),
    route({
      id: 'removeSavedCall',
      group: 'studio',
      method: 'DELETE',
      path: '/v1/saved-calls/{id}',
      summary: 'Forgets a call',
      scope: 'call',
      params: z.object({ id: z.string().min(1).max(100) }),
      responses: { 204: { description: 'It is gone.' }, 404: problem('This caller keeps no such call.') },
      async handle({ params, gateway, reply }) {
        if (await gateway.studio.removeSavedCall(params.id)) return reply(null, { status: 204 });
        throw new ToolscoutError('NOT_FOUND', `There is no saved call "${oneLine(printable(params.id), 100)}".`, {
          suggestion: 'GET /v1/saved-calls lists them.',
        });
      },
    }),
  ];
}
