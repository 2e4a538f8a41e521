import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { Json, JsonObject } from '../../api/types.js';
import { JsonTree } from '../../parts/json-tree.js';
import { ServerText } from '../../parts/server-text.js';
import { Tabs } from '../../parts/tabs.js';
import { plural } from '../../text/format.js';
import { partsOf, type ResultPart } from './result-parts.js';

const MAX_ROWS = 200;

function cellText(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function TablePart({ part }: { readonly part: Extract<ResultPart, { kind: 'table' }> }): VNode {
  return (
    <div class="table-scroll" tabIndex={0} role="region" aria-label="Result as a table">
      <table class="table">
        <thead>
          <tr>
            {part.columns.map((column) => (
              <th key={column} scope="col">
                <ServerText text={column} limit={60} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {part.rows.slice(0, MAX_ROWS).map((row, index) => (
            <tr key={index}>
              {part.columns.map((column) => (
                <td key={column} class={typeof row[column] === 'number' ? 'number right' : ''}>
                  <ServerText text={cellText(row[column])} limit={200} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {part.rows.length > MAX_ROWS && (
        <p class="muted small">{plural(part.rows.length - MAX_ROWS, 'more row')}; see JSON.</p>
      )}
    </div>
  );
}

function Part({ part }: { readonly part: ResultPart }): VNode {
  switch (part.kind) {
    case 'text':
      return (
        <div class="result-text" tabIndex={0} role="region" aria-label="Text of the result">
          <ServerText text={part.text} limit={20_000} block />
        </div>
      );
    case 'image':
      return <img class="result-image" src={part.source} alt={`A picture that the tool returned (${part.type})`} />;
    case 'table':
      return <TablePart part={part} />;
    case 'json':
      return <JsonTree value={part.value} label="Result" />;
    case 'note':
      return (
        <div>
          <p class="muted">{part.text}</p>
          <JsonTree value={part.value} label="Part of the result" />
        </div>
      );
  }
}

/** A result as it is read best, or exactly as it came. */
export function ResultView({ result }: { readonly result: JsonObject }): VNode {
  const [mode, setMode] = useState<'read' | 'json'>('read');
  return (
    <div class="stack stack-s">
      <Tabs
        label="How to show the result"
        tabs={[
          ['read', 'Readable'],
          ['json', 'JSON'],
        ]}
        current={mode}
        onChange={setMode}
      />
      {mode === 'json' ? (
        <JsonTree value={result} open={3} label="Result" />
      ) : (
        partsOf(result).map((part, index) => <Part key={index} part={part} />)
      )}
    </div>
  );
}
