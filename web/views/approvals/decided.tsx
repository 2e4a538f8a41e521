import type { VNode } from 'preact';
import { api } from '../../api/client.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { hrefTo } from '../../app/router.js';
import { seesAsAdmin } from '../../app/session.js';
import { JsonTree } from '../../parts/json-tree.js';
import { ServerLine } from '../../parts/server-text.js';
import { Badge, Empty, Loaded } from '../../parts/states.js';
import { formatAgo } from '../../text/format.js';
import { decisionWord } from './approval-words.js';
import { decisionsOf } from './decisions.js';
import { TakeBackButton } from './take-back.js';

/** What was decided, by whom and why. */
export function Decided(): VNode {
  const decisions = useResource(
    'decided',
    async (abort) => {
      const [approvals, calls] = await Promise.all([
        api.approvals(undefined, abort),
        seesAsAdmin() ? api.pendingCalls(undefined, abort) : [],
      ]);
      return decisionsOf(approvals, calls);
    },
    (event) => event.type === 'approval' || event.type === 'calls',
  );
  return (
    <Loaded from={decisions} what="The list of decisions">
      {(decided) => {
        if (decided.length === 0) {
          return (
            <Empty icon="approvals" title="Nothing was decided yet">
              <p>
                What you approve and reject here stays listed, with who decided and why. A yes or no to a call that was
                given elsewhere, on the page of its tool or in a host, is in{' '}
                <a href={hrefTo('audit', [], { kind: 'confirm' })}>Audit</a>.
              </p>
            </Empty>
          );
        }
        return (
          <div class="card card-flush">
            <div class="table-scroll" tabIndex={0} role="region" aria-label="Decisions">
              <table class="table">
                <thead>
                  <tr>
                    <th scope="col">What</th>
                    <th scope="col">Decision</th>
                    <th scope="col">By</th>
                    <th scope="col">Reason</th>
                    <th scope="col">When</th>
                  </tr>
                </thead>
                <tbody>
                  {decided
                    .slice(0, 200)
                    .map(({ id, what, about, args, again, revocable, state, by, reason, at, ...more }) => (
                      <tr key={id}>
                        <td>
                          <a
                            href={
                              about.tool === undefined
                                ? hrefTo('servers', [about.server])
                                : hrefTo('tool', [about.server, about.tool])
                            }
                          >
                            <ServerLine text={what} />
                          </a>
                          {args !== undefined && (
                            <details>
                              <summary class="muted small">Arguments</summary>
                              <JsonTree value={args} label={`Arguments of the ${what.slice(0, 200)}`} open={3} />
                            </details>
                          )}
                        </td>
                        <td>
                          <Badge tone={decisionWord(state)[1]}>{decisionWord(state)[0]}</Badge>{' '}
                          {more.isReplaced && (
                            <span class="muted small">{more.isRevised ? 'decided anew later' : 'changed since'}</span>
                          )}
                          {more.isUnused && <span class="muted small">not made in time</span>}
                          {again && (
                            <a href={hrefTo('approvals', [again.ref], { hash: again.hash })}>Look at it again</a>
                          )}
                          {revocable && <TakeBackButton approval={revocable} onDone={decisions.reload} />}
                        </td>
                        <td>
                          <ServerLine text={by} />
                        </td>
                        <td>
                          <ServerLine text={reason} />
                        </td>
                        <td class="muted">{formatAgo(at, now.value)}</td>
                      </tr>
                    ))}
                </tbody>
              </table>
            </div>
          </div>
        );
      }}
    </Loaded>
  );
}
