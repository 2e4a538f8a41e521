import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { Approval, ApprovalDiff } from '../../api/types.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { hrefTo } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { DiffView } from '../../parts/diff-view.js';
import { Icon } from '../../parts/icon.js';
import { LookOnly } from '../../parts/look-only.js';
import { Facts, Section } from '../../parts/page.js';
import { Command, ServerText } from '../../parts/server-text.js';
import { Badge, Callout, Loaded } from '../../parts/states.js';
import { countHidden } from '../../text/hidden-characters.js';
import { plural } from '../../text/format.js';
import {
  evidenceText,
  meanwhileText,
  newness,
  readableJson,
  rejectedText,
  RISK_TONES,
  riskReasons,
} from './approval-words.js';

/** Calls that may have met a change before it was noticed. */
function Meanwhile({ diff: { approval, calls } }: { readonly diff: ApprovalDiff }): VNode | null {
  if (!calls) return null;
  return (
    <Callout tone={calls.count > 0 ? 'warn' : 'info'}>
      {meanwhileText(calls, now.value)}{' '}
      {calls.count > 0 && (
        <a href={hrefTo('audit', [], { kind: 'execution', server: approval.server, tool: approval.tool })}>
          See the calls
        </a>
      )}
    </Callout>
  );
}

function Changes({ diff }: { readonly diff: ApprovalDiff }): VNode {
  const hidden = diff.changes.reduce((sum, { after = '' }) => sum + countHidden(after.slice(0, 100_000)), 0);
  return (
    <div class="stack">
      <Meanwhile diff={diff} />
      {diff.note && (
        <p class="muted">
          <ServerText text={diff.note} />
        </p>
      )}
      {hidden > 0 && (
        <Callout tone="bad">
          <p class="strong">It contains {plural(hidden, 'hidden character')}.</p>
          <p>
            {hidden === 1
              ? 'A reader does not see it, a model does. It is shown below by its code.'
              : 'A reader does not see them, a model does. They are shown below by their codes.'}
          </p>
        </Callout>
      )}
      {diff.changes.map(({ path, before = '', after = '' }) => (
        <div key={path} class="stack stack-s">
          <h3>
            <code>{path.replace(/^\//, '')}</code>
          </h3>
          <DiffView before={readableJson(before)} after={readableJson(after)} label={`Change of ${path}`} />
        </div>
      ))}
      {diff.changes.length === 0 && <p class="muted">No part of it differs.</p>}
    </div>
  );
}

function Reasons({
  label,
  icon,
  reasons,
  evidence,
}: {
  readonly label: string;
  readonly icon: 'warn' | 'info';
  readonly reasons: readonly string[];
  readonly evidence: NonNullable<ApprovalDiff['evidence']>;
}): VNode | null {
  if (reasons.length === 0) return null;
  return (
    <ul class={icon === 'info' ? 'risk-list risk-notes' : 'risk-list'} aria-label={label}>
      {reasons.map((one) => (
        <li key={one}>
          <Icon name={icon} />
          <span>
            <ServerText text={one} limit={300} />
            {evidence
              .filter(({ reason }) => reason === one)
              .map((each, index) => (
                <span key={index} class="muted">
                  <ServerText text={evidenceText(each)} limit={400} />
                </span>
              ))}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** One request whole: its risk and why, what differs, and the decision. */
export function ApprovalDetails({
  approval,
  takesFocus,
  reason,
  onReason,
  isBusy,
  onDecide,
}: {
  readonly approval: Approval;
  /** It was chosen: it comes into sight, and Tab goes on from its heading. */
  readonly takesFocus: boolean;
  readonly reason: string;
  readonly onReason: (reason: string) => void;
  readonly isBusy: boolean;
  readonly onDecide: (verb: 'approve' | 'reject') => void;
}): VNode {
  const diffs = useResource(`diff ${approval.ref} ${approval.hash}`, (signal) =>
    api.approvalDiff(approval.ref, signal),
  );
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!takesFocus) return;
    box.current?.focus({ preventScroll: true });
    const top = box.current?.getBoundingClientRect().top ?? 0;
    if (top < 0 || top > innerHeight / 2) box.current?.scrollIntoView({ block: 'start' });
  }, []);
  const { word, tone } = newness(approval);
  const { warnings, notes } = riskReasons(approval.risk);
  const evidence = diffs.data.value?.find((diff) => diff.approval.hash === approval.hash)?.evidence ?? [];
  const isRejected = approval.state === 'rejected';
  return (
    <div
      class="stack request"
      ref={box}
      tabIndex={-1}
      role="group"
      aria-label={`Request ${approval.ref.slice(0, 120)}`}
    >
      {isRejected && (
        <Callout tone="warn">
          <ServerText text={rejectedText(approval)} />
        </Callout>
      )}
      <Section
        title={approval.ref.slice(0, 120)}
        aside={
          <span class="line">
            <Badge tone={tone}>{word}</Badge>
            <Badge tone={RISK_TONES[approval.risk.level]}>{approval.risk.level} risk</Badge>
          </span>
        }
      >
        <div class="stack">
          {warnings.length + notes.length === 0 && <p class="muted">Nothing in it looks like an attack.</p>}
          <Reasons label="Why this risk" icon="warn" reasons={warnings} evidence={evidence} />
          {notes.length > 0 && (
            <div class="stack stack-s">
              <p class="muted small">Worth knowing. None of this holds it back:</p>
              <Reasons label="Worth knowing" icon="info" reasons={notes} evidence={evidence} />
            </div>
          )}
        </div>
      </Section>
      <Section title={approval.pinned === undefined ? 'What you would trust' : 'What changed'}>
        <Loaded from={diffs} what="The comparison">
          {(all) => (
            <div class="stack">
              {all
                .filter((diff) => diff.approval.hash === approval.hash)
                .map((diff) => (
                  <Changes key={diff.approval.hash} diff={diff} />
                ))}
            </div>
          )}
        </Loaded>
      </Section>
      <Section title="Your decision">
        <div class="stack">
          <div class="decide">
            <label class="field grow">
              <span class="field-label">
                Reason <span class="muted small">optional, kept in the audit log</span>
              </span>
              <input
                class="input"
                type="text"
                maxLength={500}
                value={reason}
                onInput={(event) => onReason(event.currentTarget.value)}
              />
            </label>
            <button
              type="button"
              class="button button-main"
              disabled={isBusy || !isAdmin()}
              onClick={() => onDecide('approve')}
            >
              <Icon name="check" />
              {isRejected ? 'Approve after all' : 'Approve'}
            </button>
            {!isRejected && (
              <button
                type="button"
                class="button button-danger"
                disabled={isBusy || !isAdmin()}
                onClick={() => onDecide('reject')}
              >
                <Icon name="cross" />
                Reject
              </button>
            )}
          </div>
          <LookOnly class="muted small" />
          <Facts
            items={[
              [
                approval.about === 'launch' ? 'Would run' : 'Server runs',
                <Command text={approval.target} limit={600} />,
              ],
              ['From', approval.origin === 'user' ? 'your config' : approval.origin],
              approval.tool !== undefined && [
                'Tool',
                <a href={hrefTo('tool', [approval.server, approval.tool])}>
                  <ServerText text={approval.tool} limit={100} />
                </a>,
              ],
            ]}
          />
        </div>
      </Section>
    </div>
  );
}
