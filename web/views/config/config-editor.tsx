import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { ConfigFile } from '../../api/types.js';
import { createDraft } from '../../app/draft.js';
import { onForget } from '../../app/resource.js';
import { isAdmin } from '../../app/session.js';
import { ConfigReview } from '../../parts/change-review.js';
import { Section } from '../../parts/page.js';
import { FileProblem } from '../../parts/file-problem.js';
import { Callout } from '../../parts/states.js';

/** The text that is not saved: it is kept while other views are open. */
const draft = createDraft<string>();
onForget(draft.drop);

/** The text of the config file, to be changed; the difference is shown before it is written. */
export function ConfigEditor({ file, onSaved }: { readonly file: ConfigFile; readonly onSaved: () => void }): VNode {
  const [text, showText] = useState(draft.value ?? file.text);
  const setText = (next: string): void => {
    draft.keep(next, file.text);
    showText(next);
  };
  const [isReviewed, setReviewed] = useState(false);
  const change = { text };
  return (
    <Section title="File" aside={<code>{file.path ?? 'no file yet'}</code>}>
      <div class="stack">
        <FileProblem file={file} />
        {draft.isOutdated(file.text) && (
          <Callout tone="warn">
            The file changed while you wrote. Your text is kept; the review shows what it would change.
          </Callout>
        )}
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
            Values of variables and headers, and what looks like a credential, are shown as TOOLSCOUT_SECRET_… They stay
            what they are as long as you leave these words alone.
          </span>
        </label>
        <div class="line">
          <button
            type="button"
            class="button button-main"
            disabled={text === file.text || !isAdmin()}
            onClick={() => setReviewed(true)}
          >
            Check and review
          </button>
          <button type="button" class="button" disabled={text === file.text} onClick={() => setText(file.text)}>
            Undo
          </button>
        </div>
      </div>
      <ConfigReview
        change={isReviewed ? change : undefined}
        onClose={() => setReviewed(false)}
        onDone={() => {
          draft.drop();
          onSaved();
        }}
      />
    </Section>
  );
}
