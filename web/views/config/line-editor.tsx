import type { RefObject, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount } from '../../text/format.js';
import { countLines, lineOf, lineRange, numberParts } from './lines.js';

/** Lines that stay above the one that is brought into sight. */
const ABOVE = 3;

/** Brings a line of the text into sight and selects it. */
export function goToLine(editor: HTMLTextAreaElement | null, line: number): void {
  if (!editor) return;
  const [from, until] = lineRange(editor.value, line);
  editor.focus({ preventScroll: true });
  editor.setSelectionRange(from, until);
  const height = Number.parseFloat(getComputedStyle(editor).lineHeight);
  editor.scrollTop = Math.max(0, (line - 1 - ABOVE) * height);
  editor.scrollLeft = 0;
  editor.scrollIntoView({ block: 'nearest' });
}

/** A text with the numbers of its lines beside it; lines are not wrapped, so that a number stands for one line. */
export function LineEditor({
  value,
  label,
  marked,
  editor,
  onInput,
}: {
  readonly value: string;
  readonly label: string;
  /** Lines that something is said about. */
  readonly marked: ReadonlySet<number>;
  readonly editor: RefObject<HTMLTextAreaElement>;
  readonly onInput: (text: string) => void;
}): VNode {
  const numbers = useRef<HTMLPreElement>(null);
  const [current, setCurrent] = useState(1);
  const count = countLines(value);
  useEffect(() => {
    const follow = (): void => {
      const box = editor.current;
      if (box && document.activeElement === box) setCurrent(lineOf(box.value, box.selectionStart));
    };
    document.addEventListener('selectionchange', follow);
    return () => document.removeEventListener('selectionchange', follow);
  }, []);
  return (
    <div class="stack stack-s">
      <div class="line-editor">
        <div class="line-numbers" aria-hidden="true">
          <pre ref={numbers}>
            {numberParts(count, marked).map((part) =>
              typeof part === 'number' ? (
                <span key={part} class="line-marked">
                  {part}
                  {'\n'}
                </span>
              ) : (
                part
              ),
            )}
          </pre>
        </div>
        <textarea
          ref={editor}
          class="input mono config-text"
          aria-label={label}
          aria-describedby="config-line"
          wrap="off"
          spellcheck={false}
          autocapitalize="off"
          rows={18}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
          onScroll={(event) => {
            if (numbers.current) numbers.current.style.transform = `translateY(${-event.currentTarget.scrollTop}px)`;
          }}
        />
      </div>
      <p id="config-line" class="muted small">
        Line {formatCount(Math.min(current, count))} of {formatCount(count)}
      </p>
    </div>
  );
}
