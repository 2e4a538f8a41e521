import type { VNode } from 'preact';
import { tell } from '../app/notices.js';
import { plural } from '../text/format.js';
import { Icon } from './icon.js';

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} copied.`);
  } catch {
    tell(`${what} could not be copied: the browser does not allow it here. Select the text instead.`, 'bad');
  }
}

/** Copies a text and says so. */
export function CopyButton({
  text,
  what,
  label = 'Copy',
}: {
  readonly text: string;
  readonly what: string;
  readonly label?: string;
}): VNode {
  return (
    <button type="button" class="button button-small" onClick={() => void copy(text, what)}>
      <Icon name="copy" />
      {label}
      <span class="sr-only"> {what}</span>
    </button>
  );
}

/** A longer text is copied whole, but only its beginning is drawn. */
const MAX_DRAWN = 20_000;

/** A command or a piece of code, with a button that copies it. */
export function CodeBox({ text, what }: { readonly text: string; readonly what: string }): VNode {
  const rest = text.length - MAX_DRAWN;
  return (
    <div class="code-box">
      <pre tabIndex={0} aria-label={what}>
        <code>{rest > 0 ? text.slice(0, MAX_DRAWN) : text}</code>
        {rest > 0 && `… ${plural(rest, 'character')} more`}
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  );
}
