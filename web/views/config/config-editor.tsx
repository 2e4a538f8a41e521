import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { ConfigFile } from '../../api/types.js';
import { ChangeReview } from '../../parts/change-review.js';
import { Section } from '../../parts/page.js';
import { Callout } from '../../parts/states.js';

/** The text of the config file, to be changed; the difference is shown before it is written. */
export function ConfigEditor({ file, onSaved }: { readonly file: ConfigFile; readonly onSaved: () => void }): VNode {
  const [text, setText] = useState(file.text);
  const [isReviewed, setReviewed] = useState(false);
  const change = { text };
  return (
    <Section title="File" aside={<code>{file.path ?? 'no file yet'}</code>}>
      <div class="stack">
        {file.problem && <Callout tone="warn">{file.problem}</Callout>}
        <label class="field">
          <span class="sr-only">Text of the config file</span>
          <textarea
            class="input mono config-text"
            spellcheck={false}
            rows={18}
            value={text}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <span class="field-hint">
            Credentials are shown as TOOLSCOUT_SECRET_… and stay what they are as long as you leave these words alone.
          </span>
        </label>
        <div class="line">
          <button
            type="button"
            class="button button-main"
            disabled={text === file.text}
            onClick={() => setReviewed(true)}
          >
            Check and review
          </button>
          <button type="button" class="button" disabled={text === file.text} onClick={() => setText(file.text)}>
            Undo
          </button>
        </div>
      </div>
      {isReviewed && (
        <ChangeReview
          title="Review the change"
          plan={() => api.planChange(change)}
          apply={(plan) => api.applyChange(change, plan)}
          onClose={() => setReviewed(false)}
          onDone={() => {
            setReviewed(false);
            onSaved();
          }}
        />
      )}
    </Section>
  );
}
