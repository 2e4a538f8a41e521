import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { JsonObject } from '../api/types.js';
import { ServerText } from '../parts/server-text.js';
import { Tabs } from '../parts/tabs.js';
import type { Field } from './field.js';
import { Fields } from './inputs.js';
import { unknownNames, unknownText } from './unknown-names.js';
import { problemPlace, toArguments, type Draft, type FormProblem } from './value.js';

/** A form for an object, or the same object as JSON. */
export function SchemaForm({
  field,
  value,
  problems,
  onChange,
  onBroken,
}: {
  readonly field: Field;
  readonly value: Draft;
  readonly problems: readonly FormProblem[];
  readonly onChange: (next: Draft) => void;
  /** Told whether the JSON that stands there cannot be read. */
  readonly onBroken?: (isBroken: boolean) => void;
}): VNode {
  const [mode, setMode] = useState<'form' | 'json'>('form');
  const [text, setText] = useState('');
  const [wrong, setWrong] = useState<string>();
  const report = (message: string | undefined): void => {
    setWrong(message);
    onBroken?.(message !== undefined);
  };
  const show = (next: 'form' | 'json'): void => {
    if (next === 'json') setText(JSON.stringify(toArguments(value) ?? {}, null, 2));
    report(undefined);
    setMode(next);
  };
  const write = (next: string): void => {
    setText(next);
    try {
      const parsed = JSON.parse(next) as JsonObject;
      if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
        throw new Error('the arguments must be one object');
      onChange(parsed);
      report(undefined);
    } catch (thrown) {
      report((thrown as Error).message);
    }
  };
  const object = field.kind === 'object' ? field : undefined;
  const strangers = unknownNames(field, value);
  return (
    <div class="stack">
      <Tabs
        label="How to write the arguments"
        tabs={[
          ['form', 'Form'],
          ['json', 'JSON'],
        ]}
        current={mode}
        onChange={show}
      />
      {mode === 'form' && object && object.fields.length > 0 && (
        <Fields field={object} value={value} path="" problems={problems} onChange={onChange} />
      )}
      {mode === 'form' && (!object || object.fields.length === 0) && <p class="muted">This tool takes no arguments.</p>}
      {mode === 'json' && (
        <label class="field">
          <span class="field-label">Arguments as JSON</span>
          <textarea
            class="input mono"
            rows={10}
            spellcheck={false}
            value={text}
            aria-invalid={wrong !== undefined}
            onInput={(event) => write(event.currentTarget.value)}
          />
          {wrong && (
            <span class="field-problem" role="alert">
              This is not valid JSON: {wrong}
            </span>
          )}
          {/* What was found before is not about a text that cannot be read. */}
          {wrong === undefined &&
            problems
              .filter(({ path }) => !strangers.some((stranger) => stranger.path === path))
              .map(({ path, message }) => (
                <span key={path + message} class="field-problem">
                  {problemPlace(path)} {message}
                </span>
              ))}
        </label>
      )}
      {/* Under the form as well: what a saved call or the JSON brought has no input of its own. */}
      {wrong === undefined &&
        strangers.map((stranger) => (
          <p key={stranger.path} class={stranger.isRefused ? 'field-problem' : 'field-remark'} role="status">
            <ServerText text={unknownText(stranger)} limit={300} />
          </p>
        ))}
    </div>
  );
}
