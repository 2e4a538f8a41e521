import type { VNode } from 'preact';
import { hrefTo } from '../app/router.js';
import { asOwn } from '../app/session.js';
import { withRuleNumbers } from '../text/advice.js';
import { ServerText } from './server-text.js';

/** A problem of the config file: where it is, with a way to its line, and what it is. */
export function ProblemLine({
  problem: { path, message, line },
  onLine,
}: {
  readonly problem: { readonly path: string; readonly message: string; readonly line?: number | undefined };
  /** Goes to the line where its text is open; without it the view Config is opened. */
  readonly onLine?: ((line: number) => void) | undefined;
}): VNode {
  // A problem of the form of the file is named by its line alone.
  const named = /^line \d+/.test(path) || path === 'file' || path === '' ? '' : path;
  return (
    <>
      {line !== undefined &&
        (onLine ? (
          <button type="button" class="link" onClick={() => onLine(line)}>
            Line {line}
          </button>
        ) : (
          <a href={hrefTo('config', [], { line: String(line) })}>Line {line}</a>
        ))}{' '}
      {named && <code>{withRuleNumbers(named)}</code>} <ServerText text={asOwn(withRuleNumbers(message))} />
    </>
  );
}
