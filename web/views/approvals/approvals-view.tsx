import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Approval } from '../../api/types.js';
import { asks, confirmations } from '../../app/asks.js';
import { useKeyedState } from '../../app/keyed-state.js';
import { tell, tellError } from '../../app/notices.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo, route as address, type Route } from '../../app/router.js';
import { isAdmin, seesAsAdmin } from '../../app/session.js';
import { countWaiting } from '../../app/waiting.js';
import { DetailsBox } from '../../parts/details-box.js';
import { Page, Section } from '../../parts/page.js';
import { ServerLine } from '../../parts/server-text.js';
import { Badge, Empty, Loaded } from '../../parts/states.js';
import { Tabs } from '../../parts/tabs.js';
import { formatAgo, plural } from '../../text/format.js';
import { AsksElsewhere } from '../tool/ask-view.js';
import { ApprovalDetails } from './approval-details.js';
import { compareRisk, decidedText, newness, RISK_TONES, skippedText } from './approval-words.js';
import { Decided } from './decided.js';
import { WaitingCalls } from './waiting-calls.js';

const ABOUT = { launch: 'wants to start', instructions: 'instructions to agents', tool: 'tool' } as const;
/** Another process over the same store may decide without an event here. */
const CALLS_EVERY_MS = 15_000;
/** Decides about several requests, each exactly as it was shown, and says what became of them. */
export async function decideAll(
  approvals: readonly Approval[],
  verb: 'approve' | 'reject',
  reason: string,
): Promise<void> {
  const decided: string[] = [];
  for (const { ref, hash, risk } of approvals) {
    try {
      const report = await api.decide(ref, verb, {
        hash,
        includeCritical: risk.level === 'critical',
        ...(reason && { reason }),
      });
      decided.push(...report.approvals.map((one) => one.ref));
      for (const skipped of report.skipped) tell(skippedText(skipped), 'bad');
    } catch (thrown) {
      tellError(asApiError(thrown));
    }
  }
  if (decided.length > 0) tell(decidedText(decided, verb));
  await countWaiting();
}

function Row({
  approval,
  isCurrent,
  isMarked,
  onMark,
}: {
  readonly approval: Approval;
  readonly isCurrent: boolean;
  readonly isMarked?: boolean;
  readonly onMark?: () => void;
}): VNode {
  const { word, tone } = newness(approval);
  return (
    <li class={isCurrent ? 'row row-active approval-row' : 'row approval-row'}>
      {onMark && (
        <input type="checkbox" aria-label={`Mark ${approval.ref}`} checked={isMarked ?? false} onChange={onMark} />
      )}
      <a
        class="row-main row-link"
        href={hrefTo('approvals', [approval.ref], { hash: approval.hash })}
        aria-current={isCurrent ? 'true' : undefined}
      >
        <div class="row-title">
          <ServerLine text={approval.ref} />
        </div>
        <div class="row-sub line">
          {approval.state === 'pending' ? (
            <Badge tone={tone}>{word}</Badge>
          ) : (
            <Badge tone={approval.state === 'approved' ? 'ok' : 'quiet'}>{approval.state}</Badge>
          )}
          <Badge tone={RISK_TONES[approval.risk.level]}>{approval.risk.level} risk</Badge>
          <span>
            {ABOUT[approval.about]} · {formatAgo(approval.requestedAt, now.value)}
          </span>
        </div>
      </a>
    </li>
  );
}

function Pending({ route }: { readonly route: Route }): VNode {
  const approvals = useResource(
    'approvals',
    (abort) => api.approvals('pending', abort),
    (event) => /^(?:approval|reconsidered|learned|reloaded)$/.test(event.type),
  );
  const calls = useResource(
    'waiting calls',
    async (abort) => (seesAsAdmin() ? api.pendingCalls('waiting', abort) : []),
    (event) => event.type === 'calls',
    CALLS_EVERY_MS,
  );
  const named = route.parts[0];
  const rejected = useResource(
    `rejected ${named ?? ''}`,
    async (abort) =>
      named === undefined ? [] : (await api.approvals('rejected', abort)).filter(({ ref }) => ref === named),
    (event) => event.type === 'approval',
  );
  const open = confirmations(asks.value);
  const marked = useMemo(() => signal<ReadonlySet<string>>(new Set()), []);
  // A reason is about the request for which it was typed.
  const [reason, setReason] = useKeyedState(`${named ?? ''} ${route.query['hash'] ?? ''}`, '');
  const [isBusy, setBusy] = useState(false);
  const [hasDecided, setDecided] = useState(false);
  const keyOf = (one: Approval): string => `${one.ref} ${one.hash}`;
  const decide = async (list: readonly Approval[], verb: 'approve' | 'reject'): Promise<void> => {
    const began = address.peek();
    setBusy(true);
    setDecided(true);
    // The button goes with its request; the next request takes the focus, where there is one.
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true });
    await decideAll(list, verb, reason);
    marked.value = new Set();
    setReason('');
    setBusy(false);
    approvals.reload();
    // Who has opened something else meanwhile, also what was decided, stays there.
    if (address.peek() === began) goTo(hrefTo('approvals'), { replace: true });
  };
  return (
    <>
      <AsksElsewhere asks={open} />
      <WaitingCalls calls={calls} />
      <Loaded from={approvals} what="The list of approvals">
        {(found) => {
          const again = found.some(({ ref }) => ref === named) ? undefined : rejected.data.value?.[0];
          if (again) {
            return (
              <ApprovalDetails
                key={keyOf(again)}
                takesFocus
                approval={again}
                reason={reason}
                onReason={setReason}
                isBusy={isBusy}
                onDecide={(verb) => void decide([again], verb)}
              />
            );
          }
          if (found.length === 0 && open.length + (calls.data.value?.length ?? 0) > 0) return null;
          if (found.length === 0) {
            return (
              <Empty icon="approvals" title="Nothing waits for you">
                <p>
                  toolscout remembers every tool exactly as it first saw it or as you approved it. When it reads the
                  tools of a server again and one differs by a single byte, that tool waits here, with what changed, and
                  agents do not get it until you approve it.
                </p>
                <p>
                  The tools are read when the server announces a change, after the first call on a new connection, when
                  the list is old, and when you press <span class="strong">Learn its tools again</span> on the page of
                  the server, which also says when they were last read.
                </p>
                <p>
                  Calls that a rule with <code>confirm</code> holds wait here as well.
                </p>
              </Empty>
            );
          }
          const all = found.toSorted(compareRisk);
          const current =
            all.find(
              (one) =>
                one.ref === route.parts[0] && (route.query['hash'] === undefined || one.hash === route.query['hash']),
            ) ??
            all.find((one) => one.ref === route.parts[0]) ??
            all.find((one) => one.server === route.parts[0]) ??
            all[0]!;
          const chosen = all.filter((one) => marked.value.has(keyOf(one)));
          return (
            <div class="split split-narrow">
              <Section
                title={plural(all.length, 'request')}
                aside={
                  <label class="check">
                    <input
                      type="checkbox"
                      checked={chosen.length === all.length}
                      onChange={() =>
                        (marked.value = chosen.length === all.length ? new Set() : new Set(all.map(keyOf)))
                      }
                    />
                    Mark all
                  </label>
                }
                flush
              >
                <ul class="approval-list" aria-label="Requests that wait">
                  {all.slice(0, 300).map((one) => (
                    <Row
                      key={keyOf(one)}
                      approval={one}
                      isCurrent={one === current}
                      isMarked={marked.value.has(keyOf(one))}
                      onMark={() => {
                        const next = new Set(marked.value);
                        if (!next.delete(keyOf(one))) next.add(keyOf(one));
                        marked.value = next;
                      }}
                    />
                  ))}
                </ul>
                {chosen.length > 0 && (
                  <div class="bulk">
                    <span class="strong">{plural(chosen.length, 'request')} marked</span>
                    <button
                      type="button"
                      class="button button-small button-main"
                      disabled={isBusy || !isAdmin()}
                      onClick={() => void decide(chosen, 'approve')}
                    >
                      Approve marked
                    </button>
                    <button
                      type="button"
                      class="button button-small button-danger"
                      disabled={isBusy || !isAdmin()}
                      onClick={() => void decide(chosen, 'reject')}
                    >
                      Reject marked
                    </button>
                  </div>
                )}
              </Section>
              <DetailsBox>
                <ApprovalDetails
                  key={keyOf(current)}
                  takesFocus={named !== undefined || hasDecided}
                  approval={current}
                  reason={reason}
                  onReason={setReason}
                  isBusy={isBusy}
                  onDecide={(verb) => void decide([current], verb)}
                />
              </DetailsBox>
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** What waits for a decision, and what was decided. */
export function ApprovalsView({ route }: { readonly route: Route }): VNode {
  const tab = route.parts.length === 0 && route.query['tab'] === 'decided' ? 'decided' : 'pending';
  return (
    <Page
      title="Approvals"
      lead="Calls that need your yes, and servers and tools that are new or not what you approved. Agents get none of them before you decide."
      actions={
        <Tabs
          label="Which approvals"
          tabs={[
            ['pending', 'Waiting'],
            ['decided', 'Decided'],
          ]}
          current={tab}
          onChange={(next) => goTo(hrefTo('approvals', [], { tab: next === 'decided' ? next : undefined }))}
        />
      }
      wide
    >
      {tab === 'pending' ? <Pending route={route} /> : <Decided />}
    </Page>
  );
}
