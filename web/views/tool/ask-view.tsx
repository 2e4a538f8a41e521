import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Ask, Json, JsonObject } from '../../api/types.js';
import { readAsks } from '../../app/asks.js';
import { tellError } from '../../app/notices.js';
import { onForget } from '../../app/resource.js';
import { fieldOf } from '../../form/field.js';
import { Fields } from '../../form/inputs.js';
import { checkValue, initialValue, toArguments, type Draft, type FormProblem } from '../../form/value.js';
import { Icon } from '../../parts/icon.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Section } from '../../parts/page.js';
import { ServerText } from '../../parts/server-text.js';
import { reasonOf } from '../../text/advice.js';
import { askTitle, questionText, scopeText, WITHOUT_ANSWER } from '../../text/ask-words.js';
import { createAskDrafts } from './ask-drafts.js';
import type { Run } from './run.js';

/** Answers that are not sent yet: they are kept while other views are open. */
const drafts = createAskDrafts();
onForget(drafts.clear);

function useAnswerDraft<T>(id: string, initial: () => T): readonly [value: T, set: (value: T) => void] {
  const [value, show] = useState<T>(() => (drafts.of(id) as T | undefined) ?? initial());
  return [
    value,
    (next) => {
      drafts.keep(id, next);
      show(next);
    },
  ];
}

/** What an answer form gets. */
interface AnswerProps {
  readonly id: string;
  readonly params: JsonObject;
  readonly onAnswer: (answer: JsonObject) => void;
}

/** A question with a form, or with an address to open. */
function Elicitation({ id, params, onAnswer }: AnswerProps): VNode {
  const field = useMemo(() => fieldOf(params['requestedSchema'], 'Answer'), [params]);
  const [value, setValue] = useAnswerDraft<Draft>(id, () => initialValue(field));
  const [problems, setProblems] = useState<readonly FormProblem[]>([]);
  const url = typeof params['url'] === 'string' ? params['url'] : undefined;
  const accept = (event: Event): void => {
    event.preventDefault();
    const found = url === undefined ? checkValue(field, value) : [];
    setProblems(found);
    if (found.length > 0) return;
    onAnswer(
      url === undefined ? { action: 'accept', content: (toArguments(value) ?? {}) as Json } : { action: 'accept' },
    );
  };
  return (
    <form class="stack" noValidate onSubmit={accept}>
      {url !== undefined && (
        <p>
          The server asks you to open this address. Check it before you do:{' '}
          <code>
            <ServerText text={url} limit={500} />
          </code>
        </p>
      )}
      {url === undefined && field.kind === 'object' && (
        <Fields
          field={field}
          value={value}
          path=""
          problems={problems}
          onChange={(next) => {
            setValue(next);
            if (problems.length > 0) setProblems(checkValue(field, next));
          }}
        />
      )}
      <div class="line">
        <button type="submit" class="button button-main">
          {url === undefined ? 'Send the answer' : 'I have opened it'}
        </button>
        <button type="button" class="button" onClick={() => onAnswer({ action: 'decline' })}>
          Decline
        </button>
        <button type="button" class="button" onClick={() => onAnswer({ action: 'cancel' })}>
          Dismiss
        </button>
      </div>
      <p class="muted small">{WITHOUT_ANSWER}</p>
    </form>
  );
}

/** The server wants a model to go on; here a person plays the model. */
function Sampling({ id, params, onAnswer }: AnswerProps): VNode {
  const [text, setText] = useAnswerDraft(id, () => '');
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        onAnswer({ role: 'assistant', content: { type: 'text', text }, model: 'studio-person', stopReason: 'endTurn' });
      }}
    >
      <p>The server asks for the answer of a model. You answer in its place.</p>
      <JsonTree value={params} open={3} label="What the server asks the model" />
      <label class="field">
        <span class="field-label">Answer of the model</span>
        <textarea class="input" rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      <div class="line">
        <button type="submit" class="button button-main">
          Send the answer
        </button>
      </div>
    </form>
  );
}

/** The server wants to know which folders it may use. */
function Roots({ id, onAnswer }: AnswerProps): VNode {
  const [text, setText] = useAnswerDraft(id, () => '');
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        const uris = text
          .split('\n')
          .map((line) => line.trim())
          .filter(Boolean);
        onAnswer({ roots: uris.map((uri) => ({ uri })) });
      }}
    >
      <label class="field">
        <span class="field-label">Folders it may use</span>
        <textarea
          class="input mono"
          rows={3}
          placeholder="file:///home/me/project"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span class="field-hint">One address a line. Empty: none.</span>
      </label>
      <div class="line">
        <button type="submit" class="button button-main">
          Send the answer
        </button>
        <button type="button" class="button" onClick={() => onAnswer({ roots: [] })}>
          Decline: no folders
        </button>
      </div>
    </form>
  );
}

/** toolscout asks itself, before the call is sent. */
function Confirmation({
  confirms,
  onAnswer,
}: Pick<AnswerProps, 'onAnswer'> & { readonly confirms: NonNullable<Ask['confirms']> }): VNode {
  return (
    <div class="stack stack-s">
      <p>
        <strong>
          <ServerText text={capitalized(reasonOf(confirms.rule))} limit={300} />
        </strong>{' '}
        wants a yes from a person before this call is sent. The server has not seen it yet.{' '}
        <a href="#/rules">See the rules</a>
      </p>
      <JsonTree value={confirms.arguments as Json} open={3} label="Arguments that would be sent" />
      <p class="muted small">{scopeText(confirms.scope)}</p>
      <div class="line decide-buttons">
        <button
          type="button"
          class="button button-main"
          onClick={() => onAnswer({ action: 'accept', content: { decision: 'allow' } })}
        >
          <Icon name="check" />
          {confirms.scope === 'tool' ? 'Approve its calls' : 'Approve the call'}
        </button>
        <button type="button" class="button button-danger" onClick={() => onAnswer({ action: 'decline' })}>
          <Icon name="cross" />
          Reject the call
        </button>
        <button type="button" class="button" onClick={() => onAnswer({ action: 'cancel' })}>
          Decide later in Approvals
        </button>
      </div>
    </div>
  );
}

/** A question in the middle of a call, answered here; without `run` the call was made on another page. */
export function AskView({ ask, run }: { readonly ask: Ask; readonly run?: Run }): VNode {
  const answer = async (given: JsonObject): Promise<void> => {
    run?.answering(ask.id, true, ask.confirms ? undefined : given['action']);
    try {
      await api.answer(ask.id, given);
      drafts.drop(ask.id);
      run?.answered(ask.id);
    } catch (thrown) {
      run?.answering(ask.id, false);
      tellError(asApiError(thrown));
    }
    void readAsks();
  };
  const onAnswer = (given: JsonObject): void => void answer(given);
  const { confirms } = ask;
  const props: AnswerProps = { id: ask.id, params: ask.params as JsonObject, onAnswer };
  const { message } = ask.params;
  const title = askTitle(ask);
  return (
    <div class={confirms ? 'ask ask-own' : 'ask'} role="group" aria-label={title}>
      <h3>
        {confirms && <Icon name="approvals" />}
        <bdi>{title}</bdi>
      </h3>
      {confirms ? (
        <Confirmation confirms={confirms} onAnswer={onAnswer} />
      ) : (
        <>
          {typeof message === 'string' && (
            <p>
              <ServerText text={questionText(ask, message)} limit={1000} block />
            </p>
          )}
          {ask.kind === 'elicitation' && <Elicitation {...props} />}
          {ask.kind === 'sampling' && <Sampling {...props} />}
          {ask.kind === 'roots' && <Roots {...props} />}
        </>
      )}
    </div>
  );
}

/** Questions of a tool that was called on another page or by another program of this person. */
export function AsksElsewhere({ asks }: { readonly asks: readonly Ask[] }): VNode | null {
  if (asks.length === 0) return null;
  return (
    <Section title="A call made elsewhere waits for you" aside="on another page, or in a program of yours">
      <div class="stack stack-s">
        {asks.map((ask) => (
          <AskView key={ask.id} ask={ask} />
        ))}
      </div>
    </Section>
  );
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
