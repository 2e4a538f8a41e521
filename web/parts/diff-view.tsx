import type { VNode } from 'preact';
import { diffLines, diffWords, foldSame, type DiffPart, type DiffRow } from '../text/diff.js';
import { plural } from '../text/format.js';
import { pieces } from './server-text.js';

/** Longer lines are not compared word by word. */
const MAX_LINE = 4000;
/** More rows are not drawn; the rest is told as a number. */
const MAX_ROWS = 800;

function Parts({ parts }: { readonly parts: readonly DiffPart[] }): VNode {
  return (
    <>
      {parts.map((part, index) =>
        part.same ? <span key={index}>{pieces(part.text)}</span> : <mark key={index}>{pieces(part.text)}</mark>,
      )}
    </>
  );
}

function Side({
  text,
  parts,
  side,
}: {
  readonly text: string | undefined;
  readonly parts?: readonly DiffPart[];
  readonly side: 'left' | 'right' | 'same';
}): VNode {
  if (text === undefined) return <td class="diff-none" />;
  const sign = side === 'left' ? '−' : side === 'right' ? '+' : ' ';
  return (
    <td class={`diff-${side}`}>
      <span class="diff-sign">{sign}</span>
      <bdi>{parts ? <Parts parts={parts} /> : pieces(text.slice(0, MAX_LINE))}</bdi>
      {text.length > MAX_LINE && !parts && (
        <span class="muted">… {plural(text.length - MAX_LINE, 'character')} more</span>
      )}
    </td>
  );
}

function Row({ row, isNew }: { readonly row: DiffRow; readonly isNew: boolean }): VNode {
  const { kind, left, right } = row;
  const canCompare = kind === 'changed' && left!.length <= MAX_LINE && right!.length <= MAX_LINE;
  const words = canCompare ? diffWords(left!, right!) : undefined;
  return (
    <tr>
      {!isNew && <Side text={left} side={kind === 'same' ? 'same' : 'left'} {...(words && { parts: words.left })} />}
      <Side text={right} side={kind === 'same' ? 'same' : 'right'} {...(words && { parts: words.right })} />
    </tr>
  );
}

/** Two texts side by side, what differs marked, hidden characters visible. */
export function DiffView({
  before,
  after,
  label,
}: {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}): VNode {
  const rows = foldSame(diffLines(before, after));
  // What is new as a whole has nothing beside it.
  const isNew = before === '' && after !== '';
  return (
    <div class="diff-scroll" tabIndex={0} role="region" aria-label={label}>
      <table class="diff">
        <thead>
          <tr>
            {!isNew && <th scope="col">Before</th>}
            <th scope="col">{isNew ? 'New' : 'After'}</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, MAX_ROWS).map((row, index) =>
            typeof row === 'number' ? (
              <tr key={index} class="diff-fold">
                <td colSpan={2}>{plural(row, 'equal line')}</td>
              </tr>
            ) : (
              <Row key={index} row={row} isNew={isNew} />
            ),
          )}
          {rows.length > MAX_ROWS && (
            <tr class="diff-fold">
              <td colSpan={2}>{plural(rows.length - MAX_ROWS, 'more line')}</td>
            </tr>
          )}
        </tbody>
      </table>
    </div>
  );
}
