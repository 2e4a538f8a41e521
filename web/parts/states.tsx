import type { ComponentChildren, VNode } from 'preact';
import { unsaidProblems, type ApiError } from '../api/problem.js';
import { statusWord, type ListedStatus } from '../text/status-word.js';
import type { Resource } from '../app/resource.js';
import { asOwn } from '../app/session.js';
import { withRuleNumbers } from '../text/advice.js';
import { outcomeWord } from '../text/code-words.js';
import { Icon, type IconName } from './icon.js';
import { Command, ServerText } from './server-text.js';

/** How urgent something is; also the colour. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet' | 'accent';

/** The colour of how a call or a request ended. */
const OUTCOME_TONES = { success: 'ok', failure: 'bad', refused: 'warn', waiting: 'warn', open: 'info' } as const;

/** A word with a colour; the word alone says it all. */
export function Badge({
  tone = 'quiet',
  children,
  title,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
  readonly title?: string;
}): VNode {
  return (
    <span class={`badge badge-${tone}`} title={title}>
      {children}
    </span>
  );
}

/** How a call or a request ended. */
export function OutcomeBadge({
  outcome,
  code,
}: {
  readonly outcome: keyof typeof OUTCOME_TONES;
  readonly code?: string | undefined;
}): VNode {
  const word = outcomeWord(outcome, code);
  return <Badge tone={word === 'cancelled' ? 'quiet' : OUTCOME_TONES[outcome]}>{word}</Badge>;
}

/** The status of a tool. */
export function StatusBadge({ status }: { readonly status: ListedStatus }): VNode {
  const [word, tone] = statusWord(status);
  return <Badge tone={tone}>{word}</Badge>;
}

/** What stands where nothing is yet: what would be here, and how it gets here. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <div class="empty">
      <span class="empty-icon">
        <Icon name={icon} />
      </span>
      <h2>{title}</h2>
      <div class="empty-text">{children}</div>
    </div>
  );
}

/** Advice in which backticks stand around what is to be typed; its commands reach the toolscout of this page. */
export function Advice({ text }: { readonly text: string }): VNode {
  return (
    <>
      {asOwn(text)
        .split('`')
        .map((part, index) =>
          index % 2 === 1 ? <Command key={index} text={part} /> : <ServerText key={index} text={part} />,
        )}
    </>
  );
}

/** A failure in words, with what to do about it. */
export function Failure({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }): VNode {
  const problems = unsaidProblems(error);
  return (
    <div class="callout callout-bad" role="alert">
      <Icon name="warn" />
      <div>
        <p class="strong">
          <ServerText text={withRuleNumbers(error.message)} />
        </p>
        {error.suggestion && (
          <p class="muted">
            <Advice text={error.suggestion} />
          </p>
        )}
        {problems.length > 0 && (
          <ul class="plain-list">
            {problems.map(({ path, message }) => (
              <li key={path}>
                <code>{withRuleNumbers(path) || '/'}</code> <ServerText text={withRuleNumbers(message)} />
              </li>
            ))}
          </ul>
        )}
      </div>
      {onRetry && (
        <button type="button" class="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A remark that colours what it says. */
export function Callout({
  tone = 'info',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <div class={`callout callout-${tone}`}>
      <Icon name={tone === 'ok' ? 'check' : tone === 'info' ? 'info' : 'warn'} />
      <div>{children}</div>
    </div>
  );
}

/** What a resource has: its data, else why there is none, else words that say what is awaited. */
export function Loaded<T>({
  from,
  what,
  children,
}: {
  readonly from: Resource<T>;
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
}): VNode {
  const data = from.data.value;
  const error = from.error.value;
  if (data === undefined) {
    if (error) return <Failure error={error} onRetry={from.reload} />;
    return (
      <p class="waiting" role="status">
        {what} is loading…
      </p>
    );
  }
  return (
    <>
      {error && !error.isOffline && <Failure error={error} onRetry={from.reload} />}
      {children(data)}
    </>
  );
}
