import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Json } from '../api/types.js';
import { plural } from '../text/format.js';
import { Icon } from './icon.js';
import { pieces, ServerText } from './server-text.js';

const PAGE = 100;

function Leaf({ value }: { readonly value: Json }): VNode {
  if (typeof value === 'string') {
    return (
      <span class="json-string">
        &quot;
        <ServerText text={value} limit={2000} />
        &quot;
      </span>
    );
  }
  return <span class={`json-${value === null ? 'null' : typeof value}`}>{String(value)}</span>;
}

function Node({
  name,
  value,
  depth,
  open,
}: {
  readonly name?: string;
  readonly value: Json;
  readonly depth: number;
  readonly open: number;
}): VNode {
  const [isOpen, setOpen] = useState(depth < open);
  const [shown, setShown] = useState(PAGE);
  const label = name === undefined ? null : <span class="json-key">{pieces(name.slice(0, 200))}: </span>;
  if (value === null || typeof value !== 'object') {
    return (
      <li class="json-line">
        {label}
        <Leaf value={value} />
      </li>
    );
  }
  const entries: Array<[string, Json]> = Array.isArray(value)
    ? value.map((item, index) => [String(index), item])
    : Object.entries(value);
  const size = Array.isArray(value) ? `[${plural(entries.length, 'item')}]` : `{${plural(entries.length, 'field')}}`;
  if (entries.length === 0) {
    return (
      <li class="json-line">
        {label}
        <span class="muted">{Array.isArray(value) ? '[ ]' : '{ }'}</span>
      </li>
    );
  }
  return (
    <li>
      <button type="button" class="json-toggle" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <span class={isOpen ? 'turn turn-open' : 'turn'}>
          <Icon name="chevron" />
        </span>
        {label}
        <span class="muted">{size}</span>
      </button>
      {isOpen && (
        <ul class="json-children">
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} open={open} />
          ))}
          {entries.length > shown && (
            <li>
              <button type="button" class="link" onClick={() => setShown(shown + PAGE)}>
                show {Math.min(PAGE, entries.length - shown)} more of {entries.length}
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** A JSON value that opens level by level. */
export function JsonTree({
  value,
  open = 2,
  label = 'JSON',
}: {
  readonly value: Json;
  readonly open?: number;
  readonly label?: string;
}): VNode {
  return (
    <ul class="json-tree" aria-label={label}>
      <Node value={value} depth={0} open={open} />
    </ul>
  );
}
