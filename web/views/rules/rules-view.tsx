import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError, type ApiError } from '../../api/problem.js';
import type { JsonObject, RuleConfig, RulesPreview } from '../../api/types.js';
import { createDraft } from '../../app/draft.js';
import { onForget, useResource } from '../../app/resource.js';
import { isAdmin } from '../../app/session.js';
import { ConfigReview } from '../../parts/change-review.js';
import { Icon } from '../../parts/icon.js';
import { LookOnly } from '../../parts/look-only.js';
import { Page, Section } from '../../parts/page.js';
import { ServerText } from '../../parts/server-text.js';
import { Badge, Callout, Empty, Failure, Loaded, type Tone } from '../../parts/states.js';
import { plural } from '../../text/format.js';
import {
  allowListText,
  chosenEffect,
  effectNote,
  effectWord,
  effectWords,
  patternText,
  previewText,
} from './rule-words.js';

const PAUSE_MS = 150;
/** Stays when another view is opened, and when the config changes. */
const draft = createDraft<readonly RuleConfig[]>();
onForget(draft.drop);

type Effect = RulesPreview['undecided'];

function Tools({
  effect,
  tone,
  word,
}: {
  readonly effect: Pick<Effect, 'count' | 'tools'>;
  readonly tone: Tone;
  readonly word: string;
}): VNode | null {
  if (effect.count === 0) return null;
  return (
    <details class="effect">
      <summary>
        <Badge tone={tone}>
          {word} {plural(effect.count, 'tool')}
        </Badge>
      </summary>
      <p class="muted small">
        <ServerText text={effect.tools.join(', ')} limit={600} />
        {effect.count > effect.tools.length && `, and ${effect.count - effect.tools.length} more`}
      </p>
    </details>
  );
}

function RuleRow({
  rule,
  index,
  count,
  effect,
  onChange,
  onMove,
  onRemove,
}: {
  readonly rule: RuleConfig;
  readonly index: number;
  readonly count: number;
  readonly effect: RulesPreview['rules'][number] | undefined;
  readonly onChange: (next: RuleConfig) => void;
  readonly onMove: (step: number) => void;
  readonly onRemove: () => void;
}): VNode {
  const name = `Rule ${index + 1}`;
  const note = effect && effectNote(rule, effect);
  const set = (part: Partial<RuleConfig>): void => {
    const next = Object.fromEntries(
      Object.entries({ ...rule, ...part }).filter(([, value]) => value !== undefined && value !== ''),
    );
    onChange({ pattern: '', ...next } as RuleConfig);
  };
  return (
    <li class="rule">
      <div class="filters">
        <label class="field rule-pattern">
          <span class="field-label">{name}: tools named</span>
          <input
            class="input mono"
            type="text"
            placeholder="delete_*"
            value={patternText(rule)}
            onInput={(event) => {
              const parts = event.currentTarget.value.split(',').map((one) => one.trim());
              set({ pattern: parts.length > 1 ? parts : (parts[0] ?? '') });
            }}
          />
        </label>
        <label class="field">
          <span class="field-label">of server</span>
          <input
            class="input mono"
            type="text"
            placeholder="any"
            value={rule.server ?? ''}
            onInput={(event) => set({ server: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span class="field-label">are</span>
          <select
            class="input"
            value={effectWord(rule)}
            onChange={(event) => set(chosenEffect(event.currentTarget.value, rule))}
          >
            {effectWords(rule).map((word) => (
              <option key={word} value={word}>
                {word}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span class="field-label">and tagged</span>
          <input
            class="input"
            type="text"
            placeholder="none"
            value={(rule.tags ?? []).join(', ')}
            onChange={(event) => {
              const tags = event.currentTarget.value
                .split(',')
                .map((one) => one.trim())
                .filter(Boolean);
              set({ tags: tags.length > 0 ? tags : undefined });
            }}
          />
        </label>
        <span class="line">
          <button
            type="button"
            class="icon-button"
            aria-label={`Move ${name} up`}
            disabled={index === 0}
            onClick={() => onMove(-1)}
          >
            <span class="up">
              <Icon name="down" />
            </span>
          </button>
          <button
            type="button"
            class="icon-button"
            aria-label={`Move ${name} down`}
            disabled={index === count - 1}
            onClick={() => onMove(1)}
          >
            <Icon name="down" />
          </button>
          <button type="button" class="icon-button" aria-label={`Remove ${name}`} onClick={onRemove}>
            <Icon name="cross" />
          </button>
        </span>
      </div>
      {effect && (
        <div class="line">
          <Tools effect={effect.enables} tone="ok" word="enables" />
          <Tools effect={effect.disables} tone="bad" word="disables" />
          <Tools effect={effect.tags} tone="info" word="tags" />
          {note !== undefined && <span class="muted small">{note}</span>}
        </div>
      )}
    </li>
  );
}

function Editor({
  initial,
  onSaved,
}: {
  readonly initial: readonly RuleConfig[];
  readonly onSaved: () => void;
}): VNode {
  const [rules, showRules] = useState<readonly RuleConfig[]>(() => draft.value ?? initial);
  const setRules = (next: readonly RuleConfig[]): void => {
    draft.keep(next, initial);
    showRules(next);
  };
  const isOutdated = draft.isOutdated(initial);
  const [preview, setPreview] = useState<RulesPreview>();
  const [error, setError] = useState<ApiError>();
  const [isReviewed, setReviewed] = useState(false);
  const complete = rules.filter((rule) => patternText(rule) !== '');
  const written = JSON.stringify(complete);
  useEffect(() => {
    const own = new AbortController();
    const timer = setTimeout(() => {
      api.previewRules(complete, own.signal).then(setPreview, (thrown: unknown) => {
        if (!own.signal.aborted) setError(asApiError(thrown));
      });
      setError(undefined);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [written]);
  const isChanged = written !== JSON.stringify(initial);
  const replace = (index: number, next: RuleConfig | undefined): void =>
    setRules(rules.flatMap((rule, place) => (place === index ? (next ? [next] : []) : [rule])));
  const move = (index: number, step: number): void => {
    const next = [...rules];
    const [moved] = next.splice(index, 1);
    next.splice(index + step, 0, moved!);
    setRules(next);
  };
  const change = { toolRules: complete as unknown as JsonObject[] };
  const allowList = preview ? allowListText(complete, preview) : '';
  return (
    <div class="stack">
      {error && <Failure error={error} />}
      {isOutdated && isChanged && (
        <Callout tone="warn">
          The rules of the config changed while you wrote. Your draft is kept; the review shows what it would change.
        </Callout>
      )}
      <Section title={plural(rules.length, 'rule')} aside="the first rule that fits decides" flush>
        {rules.length === 0 ? (
          <Empty icon="rules" title="No rules: every tool is offered">
            <p>
              A rule turns tools on or off by their names. For example: tools named <code>delete_*</code> are disabled.
            </p>
          </Empty>
        ) : (
          <ol>
            {rules.map((rule, index) => (
              <RuleRow
                key={index}
                rule={rule}
                index={index}
                count={rules.length}
                effect={preview?.rules[complete.indexOf(rule)]}
                onChange={(next) => replace(index, next)}
                onMove={(step) => move(index, step)}
                onRemove={() => replace(index, undefined)}
              />
            ))}
          </ol>
        )}
        <div class="bulk">
          <button
            type="button"
            class="button button-small"
            onClick={() => setRules([...rules, { pattern: '', enabled: false }])}
          >
            <Icon name="plus" />
            Add a rule
          </button>
          {isChanged && (
            <>
              <button
                type="button"
                class="button button-small button-main"
                disabled={!isAdmin()}
                onClick={() => setReviewed(true)}
              >
                Review the change
              </button>
              <button type="button" class="button button-small" onClick={() => setRules(initial)}>
                Undo
              </button>
              <LookOnly class="muted small" />
            </>
          )}
        </div>
      </Section>
      <div role="status">
        {preview && (isChanged || preview.undecided.count > 0 || preview.warnings.length > 0) && (
          <Callout tone={preview.changed.off.count > 0 ? 'warn' : 'info'}>
            <p>{previewText(preview, isChanged)}</p>
            {allowList !== '' && <p>{allowList}</p>}
            {isChanged && (
              <div class="line">
                <Tools effect={preview.changed.on} tone="ok" word="turns on" />
                <Tools effect={preview.changed.off} tone="bad" word="turns off" />
              </div>
            )}
            {preview.warnings.map(({ path, message }) => (
              <p key={path + message}>
                <code>{path}</code> <ServerText text={message} />
              </p>
            ))}
          </Callout>
        )}
      </div>
      <ConfigReview
        title="Review the rules"
        change={isReviewed ? change : undefined}
        onClose={() => setReviewed(false)}
        onDone={() => {
          draft.drop();
          onSaved();
        }}
      />
    </div>
  );
}

/** Which tools are offered: the rules, and what each decides, while one writes. */
export function RulesView(): VNode {
  const config = useResource('rules config', api.config, (event) => event.type === 'reloaded');
  return (
    <Page
      title="Rules"
      lead="Which tools agents are offered. You see at once what a rule turns on and off; nothing changes before you save."
    >
      <Loaded from={config} what="The list of rules">
        {(shown) => <Editor key={JSON.stringify(shown.toolRules)} initial={shown.toolRules} onSaved={config.reload} />}
      </Loaded>
    </Page>
  );
}
