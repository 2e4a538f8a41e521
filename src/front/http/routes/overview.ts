import * as z from 'zod';
import { LIMITS } from '../../../kernel/limits.js';
import type { ModeName } from '../../../model/config.js';
import { hasScope } from '../../../model/principal.js';
import { countMenuTokens } from '../../mcp/menu/menu-tokens.js';
import { adviseHttp } from '../dispatch/http-remedies.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { HeldTools, Overview, Problem, ServerDetails } from '../openapi/schemas.js';

/** How things stand: all servers at a glance, and one server whole. */
export function overviewRoutes({
  mode,
  localAdmin = false,
}: {
  readonly mode?: ModeName | undefined;
  readonly localAdmin?: boolean | undefined;
}): Route[] {
  return [
    route({
      id: 'showOverview',
      group: 'studio',
      method: 'GET',
      path: '/v1/overview',
      summary: 'How things stand, and what needs attention',
      scope: 'read',
      responses: { 200: { description: 'The overview.', content: { 'application/json': Overview } } },
      async handle({ gateway, reply }) {
        const { everyTool, attention, ...rest } = await gateway.studio.overview();
        // A host with a key has the rights of its key: that of an agent is not to administer.
        const admin = localAdmin && gateway.internal.loaded().config.http.auth === undefined;
        const menu = await countMenuTokens(gateway, { mode, admin });
        return reply(
          Overview.parse({
            ...rest,
            tokens: { now: menu.menu + menu.instructions, everything: everyTool, ...menu },
            attention: attention.map((each) => ({ ...each, remedy: adviseHttp(each.remedy) })),
          }),
        );
      },
    }),
    route({
      id: 'listHeldTools',
      group: 'studio',
      method: 'GET',
      path: '/v1/held-tools',
      summary: 'Tools that servers have and agents do not get, and why; starts no server',
      scope: 'read',
      query: z.object({
        q: z.string().max(LIMITS.queryBytes).optional().meta({ description: 'Only those that these words may mean.' }),
        server: z.string().min(1).max(500).optional(),
      }),
      responses: { 200: { description: 'The tools.', content: { 'application/json': HeldTools } } },
      handle: async ({ query, gateway, reply }) => reply(HeldTools.parse(await gateway.studio.heldTools(query))),
    }),
    route({
      id: 'showServer',
      group: 'tools',
      method: 'GET',
      path: '/v1/servers/{id}',
      summary: 'One server in full; does not start it',
      scope: 'read',
      params: z.object({ id: z.string().min(1).max(500) }),
      responses: {
        200: { description: 'The server.', content: { 'application/json': ServerDetails } },
        404: { description: 'There is no such server.', content: { [PROBLEM_TYPE]: Problem } },
      },
      async handle({ params, gateway, principal, reply }) {
        const { view, cwd, stderr, lastError, tools, ...details } = await gateway.studio.server(params.id);
        // How a server is started, and what it prints, is for those who decide about it (A34).
        const isAdmin = hasScope(principal, 'admin');
        return reply(
          ServerDetails.parse({
            ...view,
            ...details,
            transport: isAdmin ? view.transport : { type: view.transport.type },
            ...(isAdmin && cwd !== undefined && { cwd }),
            stderr: isAdmin ? stderr : '',
            ...(lastError && { lastError: { ...lastError, remedy: adviseHttp(lastError.remedy) } }),
            toolCounts: tools,
          }),
        );
      },
    }),
  ];
}
