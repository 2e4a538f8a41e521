import type { VNode } from 'preact';
import type { RuleConfig, RulesPreview } from '../../api/types.js';
import { Icon } from '../../parts/icon.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Badge, type Tone } from '../../parts/states.js';
import { plural } from '../../text/format.js';
import {
  chosenEffect,
  effectNote,
  effectWord,
  effectWords,
  patternOf,
  patternText,
  waitingText,
} from './rule-words.js';

type Effect = RulesPreview['undecided'];

function titleOf(word: string, count: number): string {
  return word === 'waits' ? waitingText(count) : `${word} ${plural(count, 'tool')}`;
}

/** Tools that a rule decides about, folded up. */
export function Tools({
  effect,
  tone,
  word,
  onExcept,
}: {
  readonly effect: Pick<Effect, 'count' | 'tools'>;
  readonly tone: Tone;
  /** What the rule does to them; `waits` where they wait for approval. */
  readonly word: string;
  /** Makes an exception for one of the tools. */
  readonly onExcept?: (address: string) => void;
}): VNode | null {
  if (effect.count === 0) return null;
  return (
    <details class="effect">
      <summary>
        <Badge tone={tone}>{titleOf(word, effect.count)}</Badge>
      </summary>
      {onExcept ? (
        <ul class="effect-tools small" aria-label={`Tools that it ${word}`}>
          {effect.tools.map((address) => (
            <li key={address}>
              <ServerLine text={address} limit={120} />{' '}
              <button type="button" class="link" onClick={() => onExcept(address)}>
                Make an exception<span class="sr-only"> for {address.slice(0, 120)}</span>
              </button>
            </li>
          ))}
          {effect.count > effect.tools.length && <li class="muted">and {effect.count - effect.tools.length} more</li>}
        </ul>
      ) : (
        <p class="muted small">
          <ServerText text={effect.tools.join(', ')} limit={600} />
          {effect.count > effect.tools.length && `, and ${effect.count - effect.tools.length} more`}
        </p>
      )}
    </details>
  );
}

/** One rule, to be changed, and what it does. */
export function RuleRow({
  rule,
  index,
  count,
  effect,
  onChange,
  onExcept,
  onMove,
  onRemove,
}: {
  readonly rule: RuleConfig;
  readonly index: number;
  readonly count: number;
  readonly effect: RulesPreview['rules'][number] | undefined;
  readonly onChange: (next: RuleConfig) => void;
  readonly onExcept: (address: string) => void;
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
            title={patternText(rule)}
            onInput={(event) => set({ pattern: patternOf(event.currentTarget.value) })}
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
          <Tools effect={effect.disables} tone="bad" word="disables" onExcept={onExcept} />
          <Tools effect={effect.confirms} tone="info" word="asks before calls of" />
          <Tools effect={effect.tags} tone="info" word="tags" />
          <Tools effect={effect.waiting} tone="warn" word="waits" />
          {note !== undefined && <span class="muted small">{note}</span>}
        </div>
      )}
    </li>
  );
}
