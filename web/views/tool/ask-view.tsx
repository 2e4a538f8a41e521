import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Json, JsonObject } from '../../api/types.js';
import { tellError } from '../../app/notices.js';
import { fieldOf } from '../../form/field.js';
import { Fields } from '../../form/inputs.js';
import { checkValue, initialValue, toArguments, type Draft, type FormProblem } from '../../form/value.js';
import { JsonTree } from '../../parts/json-tree.js';
import { ServerText } from '../../parts/server-text.js';
import type { Ask, Run } from './run.js';

/** What an answer form gets. */
interface AnswerProps {
  readonly params: JsonObject;
  readonly onAnswer: (answer: JsonObject) => void;
}

/** A question with a form, or with an address to open. */
function Elicitation({ params, onAnswer }: AnswerProps): VNode {
  const field = useMemo(() => fieldOf(params['requestedSchema'], 'Answer'), [params]);
  const [value, setValue] = useState<Draft>(() => initialValue(field));
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
    </form>
  );
}

/** The server wants a model to go on; here a person plays the model. */
function Sampling({ params, onAnswer }: AnswerProps): VNode {
  const [text, setText] = useState('');
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
function Roots({ onAnswer }: AnswerProps): VNode {
  const [text, setText] = useState('');
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

/** What a server asks for, by the kind of its question. */
const ASKS_FOR: Readonly<Record<string, string>> = {
  elicitation: 'asks you a question',
  sampling: 'asks for the answer of a model',
  roots: 'asks which folders it may use',
};

/** A question of the server in the middle of a call, answered here. */
export function AskView({
  ask,
  run,
  server,
}: {
  readonly ask: Ask;
  readonly run: Run;
  readonly server: string;
}): VNode {
  const answer = async (given: JsonObject): Promise<void> => {
    run.answering(ask.id, true);
    try {
      await api.answer(ask.id, given);
      run.answered(ask.id);
    } catch (thrown) {
      run.answering(ask.id, false);
      tellError(asApiError(thrown));
    }
  };
  const props: AnswerProps = { params: ask.params, onAnswer: (given) => void answer(given) };
  const { message } = ask.params;
  const asks = ASKS_FOR[ask.kind] ?? 'asks you';
  return (
    <div class="ask" role="group" aria-label={`${server} ${asks}`}>
      <h3>
        <bdi>{server}</bdi> {asks}
      </h3>
      {typeof message === 'string' && (
        <p>
          <ServerText text={message} limit={1000} block />
        </p>
      )}
      {ask.kind === 'elicitation' && <Elicitation {...props} />}
      {ask.kind === 'sampling' && <Sampling {...props} />}
      {ask.kind === 'roots' && <Roots {...props} />}
    </div>
  );
}
