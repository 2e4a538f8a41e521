import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Ask, Attention } from '../../api/types.js';
import { asks, placeOfAsk } from '../../app/asks.js';
import { tell, tellError } from '../../app/notices.js';
import { now } from '../../app/now.js';
import { isAdmin } from '../../app/session.js';
import { Section } from '../../parts/page.js';
import { ServerText } from '../../parts/server-text.js';
import { Advice, Callout } from '../../parts/states.js';
import { reasonOf } from '../../text/advice.js';
import { askLine } from '../../text/ask-words.js';
import { formatAgo, formatLeft, plural } from '../../text/format.js';
import { actionLabel, placeOf } from './home-words.js';

const DOTS = { info: '', warning: 'dot-warn', severe: 'dot-bad' } as const;
const FEW = 5;

function One({ item, onChange }: { readonly item: Attention; readonly onChange: () => void }): VNode {
  const [isBusy, setBusy] = useState(false);
  const place = placeOf(item);
  const act = async (): Promise<void> => {
    setBusy(true);
    try {
      const answer = await api.act(item.action!);
      // A sign-in goes on where the authorization server says.
      if (typeof answer?.['url'] === 'string' && /^https?:/.test(answer['url']))
        window.open(answer['url'], '_blank', 'noopener');
      tell('Done.');
    } catch (thrown) {
      tellError(asApiError(thrown));
    } finally {
      setBusy(false);
      onChange();
    }
  };
  const label = actionLabel(item);
  return (
    <li class="attention">
      <span class={`dot ${DOTS[item.severity]}`} />
      <div class="grow">
        <p class="strong">
          <ServerText text={reasonOf(item.title)} limit={200} />
        </p>
        <p class="muted">
          <ServerText text={reasonOf(item.detail)} limit={300} />
          {item.expiresAt !== undefined && ` Expires ${formatLeft(item.expiresAt, now.value)}.`}
        </p>
        {label === undefined && !place && (
          <p class="small">
            <Advice text={item.remedy} />
          </p>
        )}
      </div>
      <div class="line">
        {place && (
          <a class="button button-small" href={place.href}>
            {place.label}
          </a>
        )}
        {label !== undefined && (
          <button
            type="button"
            class="button button-small button-main"
            disabled={isBusy || !isAdmin()}
            onClick={() => void act()}
          >
            {isBusy ? 'Working…' : label}
          </button>
        )}
      </div>
    </li>
  );
}

/** A question in the middle of a call: the call goes on only with the answer. */
function Question({ ask }: { readonly ask: Ask }): VNode {
  return (
    <li class="attention">
      <span class="dot dot-warn" />
      <div class="grow">
        <p class="strong">
          <ServerText text={askLine(ask)} limit={200} />
        </p>
        <p class="muted">Asked {formatAgo(ask.askedAt, now.value)}. The call goes on when you answer.</p>
      </div>
      <div class="line">
        <a class="button button-small button-main" href={placeOfAsk(ask)}>
          Answer it
        </a>
      </div>
    </li>
  );
}

/** What needs attention, questions first, then the worst first, each with the click that mends it. */
export function AttentionList({
  items,
  onChange,
}: {
  readonly items: readonly Attention[];
  readonly onChange: () => void;
}): VNode {
  const [isLong, setLong] = useState(false);
  const questions = asks.value;
  if (items.length + questions.length === 0) {
    return <Callout tone="ok">Nothing needs your attention.</Callout>;
  }
  const shown = isLong ? items : items.slice(0, FEW);
  return (
    <Section title="Needs attention" aside={plural(items.length + questions.length, 'thing')} flush>
      <ul>
        {questions.map((ask) => (
          <Question key={ask.id} ask={ask} />
        ))}
        {shown.map((item) => (
          <One
            key={`${item.kind} ${item.server ?? ''} ${item.ref ?? ''} ${item.title}`}
            item={item}
            onChange={onChange}
          />
        ))}
        {items.length > shown.length && (
          <li class="attention">
            <button type="button" class="link" onClick={() => setLong(true)}>
              Show {items.length - shown.length} more
            </button>
          </li>
        )}
      </ul>
    </Section>
  );
}
