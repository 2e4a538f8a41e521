import type { ComponentChildren, VNode } from 'preact';
import type { ApiError } from '../api/problem.js';
import type { ToolSummary } from '../api/types.js';
import type { Resource } from '../app/resource.js';
import { Icon, type IconName } from './icon.js';
import { ServerText } from './server-text.js';

/** How urgent something is; also the colour. */
export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'quiet' | 'accent';

/** The colour of the status of a tool. */
export const STATUS_TONES: Readonly<Record<ToolSummary['status'], Tone>> = {
  enabled: 'ok',
  disabled: 'quiet',
  pending: 'warn',
  quarantined: 'bad',
};

/** The colour of how a call or a request ended. */
export const OUTCOME_TONES = { success: 'ok', failure: 'bad', refused: 'warn', open: 'info' } as const;

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

/** A failure in words, with what to do about it. */
export function Failure({ error, onRetry }: { readonly error: ApiError; readonly onRetry?: () => void }): VNode {
  return (
    <div class="callout callout-bad" role="alert">
      <Icon name="warn" />
      <div>
        <p class="strong">
          <ServerText text={error.message} />
        </p>
        {error.suggestion && (
          <p class="muted">
            <ServerText text={error.suggestion} />
          </p>
        )}
        {error.problem.problems && (
          <ul class="plain-list">
            {error.problem.problems.map(({ path, message }) => (
              <li key={path}>
                <code>{path || '/'}</code> <ServerText text={message} />
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
