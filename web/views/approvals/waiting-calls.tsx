import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Json, PendingCall } from '../../api/types.js';
import { tell, tellError } from '../../app/notices.js';
import { now } from '../../app/now.js';
import type { Resource } from '../../app/resource.js';
import { hrefTo } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { countWaiting } from '../../app/waiting.js';
import { Icon } from '../../parts/icon.js';
import { JsonTree } from '../../parts/json-tree.js';
import { LookOnly } from '../../parts/look-only.js';
import { Facts, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Badge, Failure } from '../../parts/states.js';
import { reasonOf } from '../../text/advice.js';
import { approvedText, coversText } from '../../text/confirm-words.js';
import { formatAgo, formatLeft, formatTime, plural } from '../../text/format.js';
import { routeWord } from '../../text/route-word.js';
import { whoOf } from '../../text/who.js';

/** Calls that are shown at once; the others follow when these are decided. */
const MAX_SHOWN = 50;

function WaitingCall({ call, onDecided }: { readonly call: PendingCall; readonly onDecided: () => void }): VNode {
  const [reason, setReason] = useState('');
  const [isBusy, setBusy] = useState(false);
  const address = `${call.server}:${call.tool}`;
  const decide = async (verb: 'approve' | 'reject'): Promise<void> => {
    setBusy(true);
    try {
      const { expiresAt } = await api.decideCall(call.id, verb, reason === '' ? {} : { reason });
      tell(verb === 'approve' ? approvedText(call, formatTime(expiresAt)) : `Rejected. ${address} is not called.`);
      // The buttons go away with the call.
      document.querySelector('h1')?.focus({ preventScroll: true });
    } catch (thrown) {
      tellError(asApiError(thrown));
    } finally {
      setBusy(false);
      onDecided();
      await countWaiting();
    }
  };
  return (
    <li class="waiting-call stack stack-s" aria-label={`Call of ${address.slice(0, 200)}`}>
      <div class="line line-between">
        <h3>
          <a href={hrefTo('tool', [call.server, call.tool])}>
            <ServerLine text={address} limit={120} />
          </a>
        </h3>
        <span class="muted small">asked {formatAgo(call.requestedAt, now.value)}</span>
      </div>
      <Facts
        items={[
          [
            'Asked by',
            <>
              <ServerText text={whoOf(call)} limit={200} />
              {call.skill !== undefined && (
                <>
                  {' '}
                  for the skill <ServerText text={call.skill} limit={120} />
                </>
              )}{' '}
              <span class="muted">through {routeWord(call.route)}</span>
            </>,
          ],
          [
            'Because of',
            <>
              <ServerText text={reasonOf(call.rule)} limit={300} /> <a href={hrefTo('rules')}>Open the rules</a>
            </>,
          ],
          ['A yes covers', coversText(call)],
          call.destructive === true && ['Effects', <Badge tone="bad">may delete or overwrite</Badge>],
          [
            'Expires',
            <>
              {formatLeft(call.expiresAt, now.value)} <span class="muted">at {formatTime(call.expiresAt)}</span>
            </>,
          ],
        ]}
      />
      <div>
        <p class="field-label">Arguments</p>
        <JsonTree value={call.arguments as Json} label={`Arguments of ${address.slice(0, 200)}`} open={3} />
      </div>
      <div class="decide">
        <label class="field grow">
          <span class="field-label">
            Reason <span class="muted small">optional, told to the agent with a no and kept in the audit log</span>
          </span>
          <input
            class="input"
            type="text"
            maxLength={500}
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
        </label>
        <div class="line decide-buttons">
          <button
            type="button"
            class="button button-main"
            disabled={isBusy || !isAdmin()}
            onClick={() => void decide('approve')}
          >
            <Icon name="check" />
            {call.scope === 'tool' ? 'Approve its calls' : 'Approve the call'}
          </button>
          <button
            type="button"
            class="button button-danger"
            disabled={isBusy || !isAdmin()}
            onClick={() => void decide('reject')}
          >
            <Icon name="cross" />
            Reject the call
          </button>
        </div>
      </div>
    </li>
  );
}

/** Calls that wait for confirmation: who asks, for which tool, and with which arguments. Renders nothing when none waits. */
export function WaitingCalls({ calls }: { readonly calls: Resource<PendingCall[]> }): VNode | null {
  const error = calls.error.value;
  const found = calls.data.value ?? [];
  const failure = error && !error.isOffline ? <Failure error={error} onRetry={calls.reload} /> : null;
  if (found.length === 0) return failure;
  // New ones come last, so that nothing moves under the pointer.
  const all = found.toSorted((a, b) => a.requestedAt - b.requestedAt || a.id.localeCompare(b.id));
  return (
    <>
      {failure}
      <Section title={`${plural(all.length, 'call')} ${all.length === 1 ? 'waits' : 'wait'} for confirmation`} flush>
        <ul aria-label="Calls that wait">
          {all.slice(0, MAX_SHOWN).map((call) => (
            <WaitingCall key={call.id} call={call} onDecided={calls.reload} />
          ))}
        </ul>
        {all.length > MAX_SHOWN && (
          <p class="bulk muted">{plural(all.length - MAX_SHOWN, 'more call')} behind these.</p>
        )}
        <LookOnly class="bulk muted small" />
      </Section>
    </>
  );
}
