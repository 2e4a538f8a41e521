import type { Command } from 'commander';
import { printable } from '../../../kernel/text.js';
import type { ApprovalDiff, Change } from '../../../model/approval.js';
import { inLine } from '../render.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import type { Terminal } from '../terminal.js';
import { paintRisk } from './pending.js';

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

function changeLines(change: Change, { paint }: Terminal): string[] {
  const { before, after } = focus(change);
  return [
    `  ${paint.cyan(inLine(change.path === '' ? 'the whole definition' : change.path))}`,
    ...(before === undefined ? [] : [paint.red(`  - ${printable(before)}`)]),
    ...(after === undefined ? [] : [paint.green(`  + ${printable(after)}`)]),
  ];
}

function diffLines({ approval, changes, note }: ApprovalDiff, terminal: Terminal): string[] {
  const { ref, about, risk, hash } = approval;
  const { paint } = terminal;
  const what = about === 'instructions' ? ' (what the server says of itself)' : '';
  return [
    `${paint.bold(inLine(ref))}${what}  ${paint.dim(hash.slice(0, 12))}`,
    `  risk ${paintRisk(terminal, risk.level)}: ${inLine(risk.reasons.join('; '))}`,
    ...(note === undefined ? [] : [`  ${inLine(note)}`]),
    ...changes.flatMap((change) => changeLines(change, terminal)),
  ];
}

/** `toolscout diff`: what changed of a tool since it was trusted (SEC-9). */
export function addDiff(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('diff'))
    .summary('show what changed since it was trusted')
    .description(
      'Shows what changed of a tool since it was trusted, or of everything of a server that waits. Characters that cannot be seen are shown as escapes. Starts nothing.',
    )
    .argument('<ref>', 'id of a server, or server:tool')
    .addHelpText('after', '\nExample:\n  $ toolscout diff github:create_issue')
    .action(async (ref: string, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const diffs = await gateway.approvals.diff(ref, { shownTo: 'local' });
        if (flags.json) return deps.terminal.json({ diffs });
        for (const diff of diffs) deps.terminal.out(diffLines(diff, deps.terminal).join('\n'));
      });
    });
}
