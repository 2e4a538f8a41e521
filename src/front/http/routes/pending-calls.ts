import * as z from 'zod';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { CallRuling, PendingCall, PendingCallList, Problem } from '../openapi/schemas.js';
import { route, type Route } from '../route.js';

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});

/** Calls that wait for confirmation, and the decision (SEC-11). */
export function pendingCallRoutes(): Route[] {
  const decide = (verb: 'approve' | 'reject', summary: string): Route =>
    route({
      id: `${verb}PendingCall`,
      group: 'admin',
      method: 'POST',
      path: `/v1/pending-calls/{id}/${verb}`,
      summary,
      scope: 'admin',
      whole: true,
      params: z.object({ id: z.string().min(1).max(100) }),
      body: CallRuling,
      responses: {
        200: { description: 'The call and the decision.', content: { 'application/json': PendingCall } },
        403: problem('The caller that made the call may not decide about it.'),
        404: problem('No such call waits.'),
      },
      async handle({ params, body, gateway, traceId, reply }) {
        const options = { ...body, traceId };
        const { approveCall, rejectCall } = gateway.approvals;
        const decided = await (verb === 'approve' ? approveCall : rejectCall)(params.id, options);
        return reply(PendingCall.parse(decided));
      },
    });
  return [
    route({
      id: 'listPendingCalls',
      group: 'admin',
      method: 'GET',
      path: '/v1/pending-calls',
      summary: 'Calls that wait for confirmation, were decided or expired',
      scope: 'admin',
      query: z.object({
        server: z.string().min(1).max(600).optional(),
        state: z.enum(['waiting', 'approved', 'rejected', 'used', 'expired']).optional(),
      }),
      responses: { 200: { description: 'The calls.', content: { 'application/json': PendingCallList } } },
      handle: async ({ query, gateway, reply }) =>
        reply(PendingCallList.parse({ calls: await gateway.approvals.calls(query) })),
    }),
    decide('approve', 'Says yes to one call that waits'),
    decide('reject', 'Says no to a call that waits'),
  ];
}
