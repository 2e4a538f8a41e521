import * as z from 'zod';
import { clientNameOf } from '../dispatch/input.js';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { CallAnswer, Problem, SkillBindings, SkillCall, SkillList } from '../openapi/schemas.js';
import { traceMeta } from '../../../kernel/trace-context.js';
import { failedCall } from './calls.js';

const name = z.string().min(1).max(500);

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});

/** Skills, what they were granted, and calls on their behalf: inside their bindings or not at all (NEG-5). */
export function skillRoutes(): Route[] {
  const params = z.object({ id: name });
  return [
    route({
      id: 'listSkills',
      group: 'skills',
      method: 'GET',
      path: '/v1/skills',
      summary: 'The skills of the configured folders, and how each stands',
      scope: 'read',
      whole: true,
      responses: { 200: { description: 'The skills, by id.', content: { 'application/json': SkillList } } },
      handle: async ({ gateway, reply }) => reply(SkillList.parse({ skills: await gateway.skills.list() })),
    }),
    route({
      id: 'skillBindings',
      group: 'skills',
      method: 'GET',
      path: '/v1/skills/{id}/bindings',
      summary: 'What one skill was granted, and what it must do without',
      scope: 'read',
      whole: true,
      params,
      responses: {
        200: { description: 'The bindings.', content: { 'application/json': SkillBindings } },
        404: problem('There is no such skill.'),
      },
      handle: async ({ params: { id }, gateway, reply }) =>
        reply(SkillBindings.parse((await gateway.skills.get(id)).view())),
    }),
    route({
      id: 'callAsSkill',
      group: 'skills',
      method: 'POST',
      path: '/v1/skills/{id}/call',
      summary: 'Runs a tool that serves a capability the skill declared',
      scope: 'call',
      whole: true,
      params,
      body: SkillCall,
      responses: {
        200: { description: 'The answer of the tool.', content: { 'application/json': CallAnswer } },
        403: problem('The skill did not declare it, or was not granted it.'),
        404: problem('There is no such skill.'),
        422: problem('The arguments do not fit the schema of the tool.'),
        429: problem('The server is asked too often.'),
        '5XX': problem('The server could not be reached, or the tool failed.'),
      },
      async handle({ params: { id }, body, gateway, request, traceId, reply }) {
        const handle = await gateway.skills.get(id);
        const result = await handle.call(body.capability, body.tool, body.arguments, {
          route: 'http',
          hostName: clientNameOf(request),
          traceId,
          meta: traceMeta(request),
          signal: request.signal,
        });
        return result.success ? reply(result) : failedCall(result, traceId);
      },
    }),
  ];
}
