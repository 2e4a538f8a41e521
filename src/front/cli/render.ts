import type { DiscoveryProgress } from '../../gateway/index.js';
import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { oneLine, printable } from '../../kernel/text.js';
import type { Terminal } from './terminal.js';

/** Rows under a heading, columns as wide as they need, the last one cut to the terminal. */
export function table(terminal: Terminal, head: readonly string[], rows: ReadonlyArray<readonly string[]>): string {
  const clean = rows.map((row) => row.map((cell) => printable(cell)));
  const widths = head.map((title, column) => Math.max(title.length, ...clean.map((row) => (row[column] ?? '').length)));
  const used = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  const last = Math.max(20, terminal.width - used);
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column === row.length - 1 ? oneLine(cell, last) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
      .trimEnd();
  return [terminal.paint.dim(line(head)), ...clean.map(line)].join('\n');
}

/** Text from elsewhere on one line of its own: whatever stands in it, it cannot look like the next line. */
export function inLine(text: string): string {
  return printable(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');
}

/** A progress bar for a discovery, on terminals only. */
export function progressBar(terminal: Terminal): (progress: DiscoveryProgress) => void {
  const cells = 24;
  return ({ done, total, server, ok }) => {
    const filled = Math.round((done / Math.max(1, total)) * cells);
    const bar = '█'.repeat(filled) + '░'.repeat(cells - filled);
    terminal.status(
      done === total ? '' : `learning ${bar} ${done}/${total} ${ok ? '' : 'failed: '}${printable(server)}`,
    );
  };
}

/** The content of a tool's result as text for a person. */
export function contentText(result: JsonObject): string {
  const items = Array.isArray(result['content']) ? result['content'] : [];
  const lines = items.map((item) => (isObject(item) ? contentItem(item) : printable(JSON.stringify(item))));
  if (lines.length === 0 && result['structuredContent'] !== undefined) {
    lines.push(printable(JSON.stringify(result['structuredContent'], null, 2)));
  }
  return lines.join('\n');
}

function contentItem(item: JsonObject): string {
  const size = (value: JsonValue | undefined): string =>
    typeof value === 'string' ? `${Math.floor((value.length * 3) / 4)} bytes` : 'no data';
  switch (item['type']) {
    case 'text':
      return printable(String(item['text']));
    case 'image':
    case 'audio':
      return `[${item['type']} ${printable(String(item['mimeType']))}, ${size(item['data'])}; use --json to get it]`;
    case 'resource_link':
      return `[link ${printable(String(item['uri']))}]`;
    default:
      return printable(JSON.stringify(item, null, 2));
  }
}

/** How long ago something was, in the largest unit that fits. */
export function ago(milliseconds: number): string {
  const units: Array<[number, string]> = [
    [86_400_000, 'd'],
    [3_600_000, 'h'],
    [60_000, 'min'],
    [1000, 's'],
  ];
  for (const [size, name] of units) if (milliseconds >= size) return `${Math.floor(milliseconds / size)} ${name} ago`;
  return 'just now';
}
