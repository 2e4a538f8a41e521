import * as z from 'zod';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import {
  ConfigApplied,
  ConfigApplyRequest,
  ConfigFile,
  ConfigPlan,
  ConfigPlanRequest,
  ImportAnswer,
  ImportPlan,
  ImportRequest,
  Problem,
  RegistryFindings,
  RegistryPlan,
  RulesPreview,
  RulesPreviewRequest,
} from '../openapi/schemas.js';

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const name = z.string().min(1).max(500);
const NO_STORE = { 'cache-control': 'no-store' };
const ADMIN = { group: 'admin', scope: 'admin', whole: true } as const;

/** Changing the config from a page: planned, looked at, then applied as it was looked at (STUDIO-8). */
export function configChangeRoutes(): Route[] {
  return [
    route({
      ...ADMIN,
      id: 'showConfigFile',
      method: 'GET',
      path: '/v1/config/file',
      summary: 'The text of the config file, without credentials',
      responses: { 200: { description: 'The file.', content: { 'application/json': ConfigFile } } },
      handle: async ({ gateway, reply }) =>
        reply(ConfigFile.parse(await gateway.studio.configFile()), { headers: NO_STORE }),
    }),
    route({
      ...ADMIN,
      id: 'planConfig',
      method: 'POST',
      path: '/v1/config/plan',
      summary: 'What a change of the config file would do; writes nothing',
      body: ConfigPlanRequest,
      responses: {
        200: { description: 'The plan.', content: { 'application/json': ConfigPlan } },
        400: problem('The config cannot be changed from here.'),
      },
      handle: async ({ body, gateway, reply }) =>
        reply(ConfigPlan.parse(await gateway.studio.planConfig(body.change)), { headers: NO_STORE }),
    }),
    route({
      ...ADMIN,
      id: 'applyConfig',
      method: 'POST',
      path: '/v1/config/apply',
      summary: 'Writes a change that was planned, and reads the config again',
      body: ConfigApplyRequest,
      responses: {
        200: { description: 'It is written.', content: { 'application/json': ConfigApplied } },
        400: problem('It is not what was planned, or would not be valid; nothing was written.'),
      },
      handle: async ({ body, gateway, reply }) =>
        reply(ConfigApplied.parse(await gateway.studio.applyConfig(body.change, body.plan))),
    }),
    ...(['enable', 'disable'] as const).map((verb) =>
      route({
        ...ADMIN,
        id: `${verb}Server`,
        method: 'POST',
        path: `/v1/servers/{id}/${verb}`,
        summary: verb === 'enable' ? 'Enables a server in the config file' : 'Disables a server in the config file',
        params: z.object({ id: name }),
        responses: {
          200: { description: 'It is written.', content: { 'application/json': ConfigApplied } },
          400: problem('The server does not stand in the config file.'),
          404: problem('There is no such server.'),
        },
        handle: async ({ params, gateway, reply }) =>
          reply(ConfigApplied.parse(await gateway.studio.setEnabled(params.id, verb === 'enable'))),
      }),
    ),
    route({
      id: 'previewRules',
      group: 'admin',
      scope: 'read',
      method: 'POST',
      path: '/v1/rules/preview',
      summary: 'What rules would turn on, turn off and tag; changes nothing',
      body: RulesPreviewRequest,
      responses: {
        200: { description: 'The effect of each rule.', content: { 'application/json': RulesPreview } },
        400: problem('A pattern is not valid.'),
        404: problem('There is no such tool to make an exception for.'),
      },
      handle: async ({ body, gateway, reply }) =>
        reply(RulesPreview.parse(await gateway.studio.previewRules(body.toolRules, { except: body.except }))),
    }),
    route({
      ...ADMIN,
      id: 'listImports',
      method: 'GET',
      path: '/v1/imports',
      summary: 'Clients found on this machine, and the servers that each would bring',
      responses: {
        200: { description: 'What an import of everything would do.', content: { 'application/json': ImportPlan } },
        400: problem('There is no config file that could be changed.'),
      },
      handle: async ({ gateway, reply }) =>
        reply(ImportPlan.parse(await gateway.studio.planImport({ sources: [] })), { headers: NO_STORE }),
    }),
    route({
      ...ADMIN,
      id: 'importServers',
      method: 'POST',
      path: '/v1/imports',
      summary: 'Plans an import, or with `plan` does what was planned',
      body: ImportRequest,
      responses: {
        200: { description: 'The plan, or what was written.', content: { 'application/json': ImportAnswer } },
        400: problem('It is not what was planned; nothing was written.'),
      },
      async handle({ body: { plan, ...wish }, gateway, reply }) {
        if (plan !== undefined) return reply(ConfigApplied.parse(await gateway.studio.applyImport(wish, plan)));
        return reply(ImportPlan.parse(await gateway.studio.planImport(wish)), { headers: NO_STORE });
      },
    }),
    route({
      ...ADMIN,
      id: 'searchRegistry',
      method: 'GET',
      path: '/v1/registry/search',
      summary: 'Searches the public registry for servers; starts none',
      query: z.object({ q: name }),
      responses: {
        200: { description: 'Servers.', content: { 'application/json': RegistryFindings } },
        '5XX': problem('The registry cannot be asked.'),
      },
      handle: async ({ query: { q }, gateway, reply }) =>
        reply(RegistryFindings.parse(await gateway.registry.search(q))),
    }),
    route({
      ...ADMIN,
      id: 'planRegistryServer',
      method: 'GET',
      path: '/v1/registry/plan',
      summary: 'How a server of the registry would stand in the config; changes nothing',
      query: z.object({
        name,
        id: name.optional(),
        way: name.optional(),
        answer: z.array(z.string().max(8192)).meta({ description: '`key=value`, once for each input.' }),
      }),
      responses: {
        200: { description: 'The entry.', content: { 'application/json': RegistryPlan } },
        404: problem('The registry has no such server.'),
        '5XX': problem('The registry cannot be asked.'),
      },
      async handle({ query: { name: wanted, answer, ...options }, gateway, reply }) {
        const pairs = answer.map((each) => [each.split('=', 1)[0]!, each.slice(each.indexOf('=') + 1)] as const);
        const plan = await gateway.registry.plan(wanted, { ...options, answers: Object.fromEntries(pairs) });
        return reply(RegistryPlan.parse(plan));
      },
    }),
  ];
}
