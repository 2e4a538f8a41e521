import * as z from 'zod';
import { PROBLEM_TYPE } from '../dispatch/problem.js';
import { route, type Route } from '../route.js';
import { ApprovalDiffs, ApprovalList, ManifestList, Problem, RulingReport, RulingRequest } from '../openapi/schemas.js';

const problem = (description: string): Route['responses'][string] => ({
  description,
  content: { [PROBLEM_TYPE]: Problem },
});
const name = z.string().min(1).max(600);
const ref = z.object({ ref: name.meta({ description: '`server` or `server:tool`.' }) });
const NOTHING = problem('There is no such server, or nothing of it waits.');

/** What waits for approval, and the decision (SEC-9). */
export function approvalRoutes(): Route[] {
  const decide = (verb: 'approve' | 'reject', summary: string): Route =>
    route({
      id: `${verb}Approval`,
      group: 'admin',
      method: 'POST',
      path: `/v1/approvals/{ref}/${verb}`,
      summary,
      scope: 'admin',
      whole: true,
      params: ref,
      body: RulingRequest,
      responses: {
        200: { description: 'What was decided.', content: { 'application/json': RulingReport } },
        404: NOTHING,
      },
      async handle({ params, body, gateway, traceId, reply }) {
        const report = await gateway.approvals[verb](params.ref, { ...body, traceId, requireShown: true });
        return reply(RulingReport.parse(report));
      },
    });

  return [
    route({
      id: 'listApprovals',
      group: 'admin',
      method: 'GET',
      path: '/v1/approvals',
      summary: 'What waits for approval, was decided or expired',
      scope: 'read',
      query: z.object({
        server: name.optional(),
        state: z.enum(['pending', 'approved', 'rejected', 'expired', 'superseded']).optional(),
      }),
      responses: { 200: { description: 'The approvals.', content: { 'application/json': ApprovalList } } },
      handle: async ({ query, gateway, reply }) =>
        reply(ApprovalList.parse({ approvals: await gateway.approvals.list(query) })),
    }),
    route({
      id: 'diffApproval',
      group: 'admin',
      method: 'GET',
      path: '/v1/approvals/{ref}/diff',
      summary: 'What a request would change',
      scope: 'read',
      params: ref,
      responses: {
        200: { description: 'The differences.', content: { 'application/json': ApprovalDiffs } },
        404: NOTHING,
      },
      handle: async ({ params, gateway, reply }) =>
        reply(ApprovalDiffs.parse({ diffs: await gateway.approvals.diff(params.ref) })),
    }),
    decide('approve', 'Trusts a server or a tool exactly as it is asked for'),
    decide('reject', 'Rejects what is asked for, or takes back the trust in it'),
    route({
      id: 'listMarketplace',
      group: 'admin',
      method: 'GET',
      path: '/v1/marketplace',
      summary: 'Every approved manifest',
      scope: 'read',
      whole: true,
      responses: { 200: { description: 'The manifests.', content: { 'application/json': ManifestList } } },
      handle: async ({ gateway, reply }) => reply({ manifests: await gateway.exports.marketplace() }),
    }),
  ];
}
