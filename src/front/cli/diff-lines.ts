import { printable } from '../../kernel/text.js';
import type { Change } from '../../model/approval.js';
import { inLine } from './render.js';
import type { Terminal } from './terminal.js';

/** Texts up to this length are shown whole. */
const SHORT = 160;
/** Characters kept before and after the part of a long text that differs. */
const AROUND = 40;

/** Both sides of a change; of long texts only what differs, with a little around it. */
function focus({ before, after }: Change): { before?: string; after?: string } {
  if (before === undefined || after === undefined || before.length + after.length <= 2 * SHORT) {
    return { before, after };
  }
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const from = Math.max(0, start - AROUND);
  const cut = (text: string): string => {
    const to = Math.min(text.length, text.length - end + AROUND);
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  };
  return { before: cut(before), after: cut(after) };
}

/** A change of a definition as lines. */
export function changeLines(change: Change, { paint }: Terminal): string[] {
  const { before, after } = focus(change);
  return [
    `  ${paint.cyan(inLine(change.path === '' ? 'the whole definition' : change.path))}`,
    ...(before === undefined ? [] : [paint.red(`  - ${printable(before)}`)]),
    ...(after === undefined ? [] : [paint.green(`  + ${printable(after)}`)]),
  ];
}
