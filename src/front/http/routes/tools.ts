import * as z from 'zod';
import { LIMITS } from '../../../kernel/limits.js';
import { estimateJsonTokens, estimateResultTokens } from '../../../kernel/tokens.js';
import { MAX_AGENT_HITS } from '../../../model/hit.js';
import { showConfirm } from '../../../model/pending-call.js';
import { hasScope } from '../../../model/principal.js';
import { callMetaTool } from '../../mcp/menu/meta-tools.js';
import { clientNameOf, wholeNumber } from '../dispatch/input.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { isDestructive, saysReadOnly } from '../../../model/tool.js';
import { route, type Route } from '../route.js';
import { adviseHttp } from '../dispatch/http-remedies.js';
import { Problem, SearchAnswer, SearchPreview, ServerList, ToolDetails, ToolList, Why } from '../openapi/schemas.js';
import { traceMeta } from '../../../kernel/trace-context.js';

const name = z.string().min(1).max(500);
const flag = z.enum(['true', 'false']);

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});

const FAILED = problem('The server could not be asked for its tools.');

/** Looking at servers and tools: nothing is run. */
export function toolRoutes(): Route[] {
  return [
    route({
      id: 'listServers',
      group: 'tools',
      method: 'GET',
      path: '/v1/servers',
      summary: 'The configured servers and what is known of them; starts none',
      scope: 'read',
      responses: { 200: { description: 'The servers, by id.', content: { 'application/json': ServerList } } },
      async handle({ gateway, principal, request, traceId, reply }) {
        const views = await gateway.servers.list({ meta: traceMeta(request), traceId });
        // How a server is started is for those who decide about it (A34).
        const servers = hasScope(principal, 'admin')
          ? views
          : views.map((view) => ({ ...view, transport: { type: view.transport.type } }));
        return reply(ServerList.parse({ servers }));
      },
    }),
    route({
      id: 'listServerTools',
      group: 'tools',
      method: 'GET',
      path: '/v1/servers/{id}/tools',
      summary: 'The tools of one server; it is asked when they are not known yet',
      scope: 'read',
      params: z.object({ id: name }),
      query: z.object({
        include_disabled: flag.meta({ description: 'Also tools that are not offered.' }).optional(),
      }),
      responses: {
        200: { description: 'The tools, by name.', content: { 'application/json': ToolList } },
        404: problem('There is no such server.'),
        '5XX': FAILED,
      },
      async handle({ params, query, gateway, request, traceId, reply }) {
        const includeDisabled = query.include_disabled === 'true';
        const meta = traceMeta(request);
        const tools = await gateway.tools.list(params.id, { includeDisabled, includeFallback: true, meta, traceId });
        const shown = tools.map((tool) => ({
          ...tool,
          tool: tool.name,
          callable: tool.status === 'enabled',
          confirm: showConfirm(tool.confirm),
        }));
        return reply(ToolList.parse({ server: params.id, tools: shown }));
      },
    }),
    route({
      id: 'searchTools',
      group: 'tools',
      method: 'GET',
      path: '/v1/search',
      summary: 'Finds tools for a need in plain words',
      scope: 'read',
      query: z.object({
        q: z.string().max(LIMITS.queryBytes).meta({ description: 'What is needed: action + object + product.' }),
        server: name.meta({ description: 'Only tools of this server.' }).optional(),
        tag: z.array(name).meta({ description: 'Only tools that have all of these.' }).optional(),
        limit: wholeNumber(1, 100).optional(),
        include_schema: flag.meta({ description: 'With compact signatures.' }).optional(),
        explain: flag.meta({ description: 'With the reasons for the ranking.' }).optional(),
        preview: flag
          .meta({
            description:
              'A person looks at what an agent would find: it leaves no record, is not counted and not learned from.',
          })
          .optional(),
      }),
      responses: {
        200: { description: 'The hits, best first.', content: { 'application/json': SearchAnswer } },
        404: problem('There is no such server.'),
      },
      async handle({ query, gateway, request, traceId, reply }) {
        const answer = await gateway.search(query.q, {
          server: query.server,
          tags: query.tag,
          limit: query.limit,
          includeSchema: query.include_schema === 'true',
          explain: query.explain === 'true',
          isPreview: query.preview === 'true',
          route: 'http',
          hostName: clientNameOf(request),
          meta: traceMeta(request),
          traceId,
        });
        return reply(SearchAnswer.parse(answer));
      },
    }),
    route({
      id: 'previewSearch',
      group: 'tools',
      method: 'GET',
      path: '/v1/search/preview',
      summary: 'What `search_tools` answers an agent, and the tokens it costs',
      scope: 'read',
      query: z.object({
        q: z.string().min(1).max(LIMITS.queryBytes).meta({ description: 'What the agent asks for.' }),
        server: name.meta({ description: 'Only tools of this server.' }).optional(),
        limit: wholeNumber(1, MAX_AGENT_HITS).optional(),
        include_schema: flag.meta({ description: 'With compact signatures.' }).optional(),
      }),
      responses: { 200: { description: 'The text, and its price.', content: { 'application/json': SearchPreview } } },
      async handle({ query: { q, server, limit, include_schema: schemas }, gateway, request, traceId, reply }) {
        const asked = {
          query: q,
          ...(server !== undefined && { server }),
          ...(limit !== undefined && { limit }),
          ...(schemas === 'true' && { includeSchema: true }),
        };
        const answer = await callMetaTool(gateway, 'search_tools', asked, {
          meta: traceMeta(request),
          traceId,
          isPreview: true,
        });
        const tokens = { arguments: estimateJsonTokens(asked), returned: estimateResultTokens(answer) };
        return reply(SearchPreview.parse({ ...answer, tokens }));
      },
    }),
    route({
      id: 'showTool',
      group: 'tools',
      method: 'GET',
      path: '/v1/tools/{server}/{tool}',
      summary: 'Everything about one tool',
      scope: 'read',
      params: z.object({ server: name, tool: name }),
      query: z.object({
        include_disabled: flag.meta({ description: 'Also one that a rule disables.' }).optional(),
      }),
      responses: {
        200: { description: 'The tool.', content: { 'application/json': ToolDetails } },
        404: problem('There is no such server or tool.'),
        '5XX': FAILED,
      },
      async handle({ params, query, gateway, request, traceId, reply }) {
        const { tool, lean } = await gateway.details(params.server, params.tool, {
          includeDisabled: query.include_disabled === 'true',
          meta: traceMeta(request),
          traceId,
        });
        const callable = tool.status === 'enabled';
        const readOnly = saysReadOnly(tool.definition);
        const shown = {
          ...tool,
          tool: tool.name,
          callable,
          readOnly,
          confirm: showConfirm(tool.confirm),
          definition: lean,
        };
        return reply(ToolDetails.parse({ ...shown, ...(isDestructive(tool.definition) && { destructive: true }) }));
      },
    }),
    route({
      id: 'whyTool',
      group: 'tools',
      method: 'GET',
      path: '/v1/why/{server}/{tool}',
      summary: 'Why a tool is or is not offered to who asks; starts no server',
      scope: 'read',
      params: z.object({ server: name, tool: name }),
      responses: {
        200: { description: 'The reason, also when there is no such tool.', content: { 'application/json': Why } },
      },
      handle: async ({ params, gateway, reply }) => {
        const why = await gateway.why(params.server, params.tool);
        return reply(Why.parse({ ...why, suggestion: why.remedy && adviseHttp(why.remedy) }));
      },
    }),
  ];
}
