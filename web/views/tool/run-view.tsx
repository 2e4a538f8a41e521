import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { ApiError } from '../../api/problem.js';
import type { JsonObject } from '../../api/types.js';
import { hrefTo } from '../../app/router.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Section } from '../../parts/page.js';
import { ServerText } from '../../parts/server-text.js';
import { Badge, Callout, Failure, OutcomeBadge } from '../../parts/states.js';
import { reasonOf } from '../../text/advice.js';
import { unansweredText } from '../../text/ask-words.js';
import { outcomeOfCode } from '../../text/code-words.js';
import { formatCount } from '../../text/format.js';
import { AskView } from './ask-view.js';
import { saysOnly } from './result-parts.js';
import { ResultView } from './result-view.js';
import { isUnsent, type Run, type RunState } from './run.js';
import { runningText, tokensText, tookText } from './run-words.js';

function Progress({ progress }: { readonly progress: readonly JsonObject[] }): VNode | null {
  const last = progress.at(-1);
  if (!last) return null;
  const { progress: done, total, message } = last;
  const share = typeof done === 'number' && typeof total === 'number' && total > 0 ? done / total : undefined;
  return (
    <div class="stack stack-s">
      {share !== undefined && (
        <div
          class="meter"
          role="progressbar"
          aria-valuenow={Math.round(share * 100)}
          aria-valuemin={0}
          aria-valuemax={100}
          aria-label="Progress of the call"
        >
          <span style={{ width: `${Math.min(1, share) * 100}%` }} />
        </div>
      )}
      <p class="muted small">
        {typeof done === 'number' &&
          `${formatCount(done)}${typeof total === 'number' ? ` of ${formatCount(total)}` : ''} `}
        {typeof message === 'string' && <ServerText text={message} />}
      </p>
    </div>
  );
}

/** The call was not sent: a person is still to say yes. */
function Waits({ error }: { readonly error: ApiError }): VNode {
  return (
    <Callout tone="warn">
      <div class="stack stack-s" role="alert">
        <p class="strong">
          <ServerText text={reasonOf(error.message)} />
        </p>
        <p>Approve or reject it under Approvals. After an approval, run the tool again with the same arguments.</p>
        <p>
          <a class="button button-small button-main" href={hrefTo('approvals')}>
            Decide in Approvals
          </a>
        </p>
      </div>
    </Callout>
  );
}

/** Why a call did not succeed. What is advised to agents after a no is of no use to the person who said it. */
function Failed({ state }: { readonly state: Extract<RunState, { step: 'failed' }> }): VNode {
  const { error } = state;
  if (isUnsent(state)) return <Waits error={error} />;
  if (error.problem.code !== 'CONFIRMATION_REJECTED') return <Failure error={error} />;
  return (
    <Callout tone="warn">
      <p class="strong" role="alert">
        <ServerText text={reasonOf(error.message)} />
      </p>
    </Callout>
  );
}

/** What a call does now, or what became of it. */
export function RunView({ run }: { readonly run: Run }): VNode | null {
  const state = run.state.value;
  const status = useRef<HTMLParagraphElement>(null);
  const firstAsk = state.step === 'running' ? state.asks[0]?.id : undefined;
  useEffect(() => {
    const box = status.current?.parentElement;
    const field = box?.querySelector<HTMLElement>('.ask :is(input, textarea, select)');
    if (firstAsk !== undefined) (field ?? box?.querySelector<HTMLElement>('.ask button'))?.focus();
    // The form that had the focus is gone.
    else if (document.activeElement === document.body) status.current?.focus();
  }, [firstAsk]);
  if (state.step === 'idle') return null;
  const ms = state.step === 'done' || state.step === 'failed' ? tookText(state) : undefined;
  const code = state.step === 'failed' ? state.error.problem.code : undefined;
  const answer = state.step === 'done' || state.step === 'failed' ? state.answer : undefined;
  const unanswered = unansweredText(run.actions());
  const result = answer?.['result'] as JsonObject | undefined;
  return (
    <Section
      title="Result"
      aside={
        <span class="outcome">
          <span>{[tokensText(answer), ms].filter(Boolean).join(' · ')}</span>
          {state.step === 'done' && <Badge tone="ok">success</Badge>}
          {state.step === 'failed' && <OutcomeBadge outcome={outcomeOfCode(code)} code={code} />}
          {state.step === 'cancelled' && <OutcomeBadge outcome="failure" code="CANCELLED" />}
        </span>
      }
    >
      <div class="stack stack-s">
        {state.step === 'running' && (
          <p ref={status} tabIndex={-1} role="status" class="muted">
            {runningText(state.asks, state.isWorking)}
          </p>
        )}
        {state.step === 'running' && <Progress progress={state.progress} />}
        {state.step === 'running' && state.asks.map((ask) => <AskView key={ask.id} ask={ask} run={run} />)}
        {state.step === 'cancelled' && (
          <p role="status">
            The call was cancelled.{' '}
            {state.wasSent ? 'The server may have done part of the work.' : 'Nothing was sent to the server.'}
          </p>
        )}
        {state.step === 'failed' && <Failed state={state} />}
        {state.step === 'done' && unanswered !== undefined && <p class="muted">{unanswered}</p>}
        {state.step === 'done' && (
          <p class="sr-only" role="status">
            The call succeeded.
          </p>
        )}
        {result && state.step === 'failed' && saysOnly(result, state.error.message) ? (
          <details>
            <summary class="muted small">The result as JSON</summary>
            <JsonTree value={result} open={3} label="Result" />
          </details>
        ) : (
          result && <ResultView result={result} />
        )}
      </div>
    </Section>
  );
}
