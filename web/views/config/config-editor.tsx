import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConfigFile } from '../../api/types.js';
import { createDraft } from '../../app/draft.js';
import { onForget } from '../../app/resource.js';
import { isAdmin } from '../../app/session.js';
import { ConfigReview } from '../../parts/change-review.js';
import { Section } from '../../parts/page.js';
import { FileProblem } from '../../parts/file-problem.js';
import { ProblemLine } from '../../parts/problem-line.js';
import { Callout } from '../../parts/states.js';
import { goToLine, LineEditor } from './line-editor.js';

/** The text that is not saved: it is kept while other views are open. */
const draft = createDraft<string>();
onForget(draft.drop);

function fileName({ path, exists, isGone }: ConfigFile): string {
  if (path === undefined) return 'no file yet';
  return exists || isGone ? path : `${path}, written when you save`;
}

/** The text of the config file, to be changed; the difference is shown before it is written. */
export function ConfigEditor({
  file,
  line,
  onSaved,
}: {
  readonly file: ConfigFile;
  /** The line that the address names. */
  readonly line: number | undefined;
  readonly onSaved: () => void;
}): VNode {
  const [text, showText] = useState(draft.value ?? file.text);
  const setText = (next: string): void => {
    draft.keep(next, file.text);
    showText(next);
  };
  const [isReviewed, setReviewed] = useState(false);
  const change = { text };
  const editor = useRef<HTMLTextAreaElement>(null!);
  const goTo = (to: number): void => goToLine(editor.current, to);
  useEffect(() => {
    // Not into what is being written: the next letter would take the place of a line.
    if (line !== undefined && draft.value === undefined) goTo(line);
  }, [line]);
  const { rejected = [], warnings = [] } = file;
  // A text that was changed has other lines than the file.
  const marked = new Set(text === file.text ? [...rejected, ...warnings].flatMap((each) => each.line ?? []) : []);
  // A file that is gone is not an empty one; what is being written is kept until it is back.
  if (file.isGone) {
    return (
      <Section title="File" aside={<code>{fileName(file)}</code>}>
        <div class="stack">
          <FileProblem file={file} />
          {draft.value !== undefined && <p class="muted">What you wrote is kept until the file is back.</p>}
        </div>
      </Section>
    );
  }
  return (
    <Section title="File" aside={<code>{fileName(file)}</code>}>
      <div class="stack">
        <FileProblem file={file} onLine={goTo} />
        {draft.isOutdated(file.text) && (
          <Callout tone="warn">
            The file changed while you wrote. Your text is kept; the review shows what it would change.
          </Callout>
        )}
        <LineEditor value={text} label="Text of the config file" marked={marked} editor={editor} onInput={setText} />
        {warnings.map((problem) => (
          <Callout key={problem.path + problem.message} tone="warn">
            <ProblemLine problem={problem} onLine={goTo} />
          </Callout>
        ))}
        <p class="field-hint">
          Values of variables and headers, and what looks like a credential, are shown as TOOLSCOUT_SECRET_… They stay
          what they are as long as you leave these words alone.
        </p>
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
        onLine={(line) => {
          setReviewed(false);
          // The dialog gives the focus back to the button when it closes.
          requestAnimationFrame(() => requestAnimationFrame(() => goTo(line)));
        }}
        onClose={() => setReviewed(false)}
        onDone={() => {
          draft.drop();
          onSaved();
        }}
      />
    </Section>
  );
}
