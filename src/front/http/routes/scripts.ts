import { ToolscoutError } from '../../../kernel/errors.js';
import { traceMeta } from '../../../kernel/trace-context.js';
import { adviseHttp } from '../dispatch/http-remedies.js';
import { clientNameOf } from '../dispatch/input.js';
import { PROBLEM_TYPE, problemResponse } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { Problem, ScriptAnswer, ScriptBody, ScriptProblem } from '../openapi/schemas.js';

/** Running scripts: every call that one makes is checked like any other (CODE-9). */
export function scriptRoutes(): Route[] {
  return [
    route({
      id: 'runScript',
      group: 'calls',
      method: 'POST',
      path: '/v1/scripts',
      summary: 'Runs a script that calls tools',
      scope: 'call',
      body: ScriptBody,
      responses: {
        200: {
          description: 'What the script returned and printed.',
          content: { 'application/json': ScriptAnswer },
        },
        403: { description: 'Scripts are not enabled.', content: { [PROBLEM_TYPE]: Problem } },
        422: {
          description: 'The script failed, or reached a bound; `line` and `column` say where.',
          content: { [PROBLEM_TYPE]: ScriptProblem },
        },
      },
      async handle({ body, gateway, reply, request, traceId }) {
        const { error, success, value, printed, calls } = await gateway.run(body.script, {
          route: 'http',
          hostName: clientNameOf(request),
          traceId,
          meta: traceMeta(request),
          signal: request.signal,
          advise: adviseHttp,
          ...(body.timeout_ms !== undefined && { timeoutMs: body.timeout_ms }),
        });
        if (!error) return reply({ success, ...(value !== undefined && { value }), printed, calls });
        const { code, message, remedy, severity, line, column, source, call } = error;
        const more = {
          ...(line !== undefined && { line, column, source }),
          ...(call && { call }),
          printed: [...printed],
          calls,
        };
        return problemResponse(new ToolscoutError(code, message, { remedy, severity }), { traceId, more });
      },
    }),
  ];
}
