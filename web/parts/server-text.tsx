import { useState } from 'preact/hooks';
import type { VNode } from 'preact';
import { showHidden } from '../text/hidden-characters.js';
import { formatCount } from '../text/format.js';

const STEP = 20_000;

/** A text of a server: inert, kept apart from the direction of the page, with hidden characters made visible. */
export function ServerText({
  text,
  limit = 600,
  block = false,
}: {
  readonly text: string;
  readonly limit?: number;
  readonly block?: boolean;
}): VNode {
  const [shown, setShown] = useState(limit);
  const rest = text.length - shown;
  const isCut = rest > 0;
  const Box = block ? 'div' : 'span';
  return (
    <Box class={block ? 'server-text server-text-block' : 'server-text'}>
      <bdi>{pieces(isCut ? text.slice(0, shown) : text)}</bdi>
      {isCut && (
        <>
          {'… '}
          <button type="button" class="link" onClick={() => setShown(shown + STEP)}>
            show {formatCount(Math.min(rest, STEP))} more of {formatCount(text.length)} characters
          </button>
        </>
      )}
    </Box>
  );
}

/** The pieces of a text, the hidden ones as marks with a name. */
export function pieces(text: string): VNode[] | string {
  const parts = showHidden(text);
  if (parts.length === 1 && parts[0]!.kind === 'plain') return parts[0]!.text;
  return parts.map((piece, index) =>
    piece.kind === 'plain' ? (
      <span key={index}>{piece.text}</span>
    ) : (
      <span key={index} class="hidden-character" title={piece.name}>
        {piece.code}
        <span class="sr-only"> {piece.name} </span>
      </span>
    ),
  );
}

/** A command line, broken between its arguments and not within them where there is room. */
export function Command({ text, limit = 2000 }: { readonly text: string; readonly limit?: number }): VNode {
  const shown = text.length > limit ? `${text.slice(0, limit)}…` : text;
  return (
    <code class="command-line">
      {shown.split(' ').flatMap((part, index) => [
        index > 0 && ' ',
        <span key={index} class="command-part">
          <bdi>{pieces(part)}</bdi>
        </span>,
      ])}
    </code>
  );
}

/** A short text of a server on one line. */
export function ServerLine({ text, limit = 200 }: { readonly text: string; readonly limit?: number }): VNode {
  return <bdi class="server-line">{pieces(text.length > limit ? `${text.slice(0, limit)}…` : text)}</bdi>;
}
