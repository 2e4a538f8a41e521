import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../api/client.js';
import { asApiError, type ApiError } from '../api/problem.js';
import type { ConfigApplied, ConfigChange, ConfigPlan } from '../api/types.js';
import { tell } from '../app/notices.js';
import { useResource } from '../app/resource.js';
import { canSave, commandsTitle, hidesValues, saveLabel, writtenText, type ChangeWords } from './change-words.js';
import { DiffView } from './diff-view.js';
import { Dialog } from './dialog.js';
import { ProblemLine } from './problem-line.js';
import { ServerText } from './server-text.js';
import { Callout, Failure, Loaded } from './states.js';

function Commands({ commands }: { readonly commands: ConfigPlan['commands'] }): VNode | null {
  if (commands.length === 0) return null;
  return (
    <div class="stack stack-s">
      <h3>{commandsTitle(commands)}</h3>
      {commands.map(({ server, target, secrets }) => (
        <div key={server} class="command">
          <span class="muted small">
            <ServerText text={server} limit={80} />
          </span>
          <code>
            <ServerText text={target} limit={2000} />
          </code>
          {secrets.length > 0 && <span class="muted small">with {secrets.join(', ')}</span>}
        </div>
      ))}
    </div>
  );
}

/** A change of the config file that is looked at; nothing is drawn while there is none. */
export function ConfigReview({
  title = 'Review the change',
  verb,
  done,
  note,
  change,
  onClose,
  onDone,
  onLine,
}: {
  readonly change: ConfigChange | undefined;
  readonly note?: string;
  readonly onLine?: (line: number) => void;
  readonly onClose: () => void;
  readonly onDone: () => void;
} & Partial<ChangeWords>): VNode | null {
  if (!change) return null;
  return (
    <ChangeReview
      title={title}
      {...(verb !== undefined && { verb })}
      {...(done !== undefined && { done })}
      {...(note !== undefined && { note: <p>{note}</p> })}
      plan={() => api.planChange(change)}
      apply={(plan) => api.applyChange(change, plan)}
      {...(onLine && { onLine })}
      onClose={onClose}
      onDone={() => {
        onClose();
        onDone();
      }}
    />
  );
}

/** What is wrong with the text that would be written. */
function Found({
  problem,
  onLine,
}: {
  readonly problem: ConfigPlan['problems'][number];
  readonly onLine: ((line: number) => void) | undefined;
}): VNode {
  // The file does not have these lines before it is written: where its text is not open there is nothing to go to.
  return <ProblemLine problem={onLine ? problem : { ...problem, line: undefined }} onLine={onLine} />;
}

/** A change of the config before it is made: the exact commands, the difference, what is wrong. Nothing is written until a person says so. */
export function ChangeReview({
  title,
  verb,
  done,
  plan,
  apply,
  onClose,
  onDone,
  note,
  onLine,
}: Pick<ChangeWords, 'title'> &
  Partial<ChangeWords> & {
    readonly plan: () => Promise<ConfigPlan>;
    readonly apply: (plan: string) => Promise<ConfigApplied>;
    readonly onClose: () => void;
    readonly onDone: () => void;
    readonly note?: ComponentChildren;
    /** Goes to a line of the text that is reviewed, where it is open behind. */
    readonly onLine?: (line: number) => void;
  }): VNode {
  const planned = useResource('plan', plan);
  const [error, setError] = useState<ApiError>();
  const [isBusy, setBusy] = useState(false);
  const write = async (hash: string): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const applied = await apply(hash);
      tell(writtenText(applied, done), applied.problem === undefined ? 'ok' : 'bad');
      onDone();
    } catch (thrown) {
      setError(asApiError(thrown));
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose} wide>
      {error && <Failure error={error} onRetry={planned.reload} />}
      <Loaded from={planned} what="The plan">
        {(found) => (
          <div class="stack">
            {note}
            {found.problems.length > 0 && <p class="strong">It cannot be saved like this:</p>}
            {found.problems.map((problem) => (
              <Callout key={problem.path + problem.message} tone="bad">
                <Found problem={problem} onLine={onLine} />
              </Callout>
            ))}
            {found.warnings.map((problem) => (
              <Callout key={problem.path + problem.message} tone="warn">
                <Found problem={problem} onLine={onLine} />
              </Callout>
            ))}
            <Commands commands={found.commands} />
            <div class="stack stack-s">
              <h3>
                Change of <code>{found.file}</code>
              </h3>
              {found.before === found.after ? (
                <p class="muted">Nothing in the file changes.</p>
              ) : (
                <DiffView before={found.before} after={found.after} label="Change of the config" />
              )}
              {hidesValues(found) && (
                <p class="field-hint">
                  TOOLSCOUT_SECRET_… stands for a value that is not shown: values of variables and headers, and what
                  looks like a credential. The file has the value itself.
                </p>
              )}
            </div>
            <div class="line dialog-actions">
              <button
                type="button"
                class={verb === 'Remove' ? 'button button-danger' : 'button button-main'}
                disabled={isBusy || !canSave(found)}
                onClick={() => void write(found.plan)}
              >
                {isBusy ? 'Saving…' : (verb ?? saveLabel(found))}
              </button>
              <button type="button" class="button" onClick={onClose}>
                Back
              </button>
            </div>
          </div>
        )}
      </Loaded>
    </Dialog>
  );
}
