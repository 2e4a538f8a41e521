import type { Command } from 'commander';
import { counted } from '../../../kernel/text.js';
import type { ApprovalDiff, CallsMeanwhile, RiskEvidence } from '../../../model/approval.js';
import { changeLines } from '../diff-lines.js';
import { ago, inLine } from '../render.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import type { Terminal } from '../terminal.js';
import { paintRisk } from './pending.js';

/** When a change happened, as far as that is known, and the calls that may have met it. */
function callsLine({ since, until, count, isMore }: CallsMeanwhile, now: number): string {
  const calls = `${counted(count, 'call')}${isMore ? ' or more' : ''}`;
  return `  last known unchanged ${ago(now - since)}, noticed ${ago(now - until)}; ${calls} in between`;
}

/** The words that a reason of the risk comes from. */
function evidenceLine({ reason, path, text }: RiskEvidence): string {
  const where = path === undefined || path === '' ? '' : ` in ${path}`;
  return `  ${inLine(`${reason}${where}${text === undefined ? '' : `: "${text}"`}`)}`;
}

function diffLines(
  { approval, changes, note, calls, evidence = [] }: ApprovalDiff,
  terminal: Terminal,
  now: number,
): string[] {
  const { ref, about, risk, hash } = approval;
  const { paint } = terminal;
  const what = about === 'instructions' ? ' (its own description)' : '';
  return [
    `${paint.bold(inLine(ref))}${what}  ${paint.dim(hash.slice(0, 12))}`,
    `  risk ${paintRisk(terminal, risk.level)}: ${inLine(risk.reasons.join('; '))}`,
    ...evidence.filter(({ path }) => path !== undefined).map(evidenceLine),
    ...(calls === undefined ? [] : [callsLine(calls, now)]),
    ...(note === undefined ? [] : [`  ${inLine(note)}`]),
    ...changes.flatMap((change) => changeLines(change, terminal)),
  ];
}

/** `toolscout diff`: what changed of a tool since it was trusted (SEC-9). */
export function addDiff(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('diff'))
    .summary('show what changed since it was trusted')
    .description(
      'Shows what changed in a tool since it was trusted, or in all pending items of a server. Invisible characters are shown as escapes. Starts nothing.',
    )
    .argument('<ref>', 'id of a server, or server:tool')
    .addHelpText('after', '\nExample:\n  $ toolscout diff github:create_issue')
    .action(async (ref: string, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const diffs = await gateway.approvals.diff(ref, { shownTo: 'local' });
        if (flags.json) return deps.terminal.json({ diffs });
        for (const diff of diffs) deps.terminal.out(diffLines(diff, deps.terminal, deps.clock.now()).join('\n'));
      });
    });
}
