import { shellWord } from '../../../kernel/remedy.js';
import { Option, type Command } from 'commander';
import type { Approval, ApprovalState, RiskLevel } from '../../../model/approval.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { describeCall } from '../pending-calls.js';
import { ago, inLine } from '../render.js';
import type { Terminal } from '../terminal.js';

interface Flags extends CommonFlags {
  readonly server?: string;
  readonly state: ApprovalState;
}

const STATES: readonly ApprovalState[] = ['pending', 'approved', 'rejected', 'expired', 'superseded'];

/** A risk in the colour of its weight. */
export function paintRisk({ paint }: Terminal, level: RiskLevel): string {
  if (level === 'critical' || level === 'high') return paint.red(level);
  return level === 'medium' ? paint.yellow(level) : paint.green(level);
}

/** What an approval is about, as one phrase. */
function phrase({ about, pinned, changed, state }: Approval): string {
  // A decided subject is neither new nor changed any more.
  const isOpen = state === 'pending' || state === 'expired';
  if (about === 'launch') return isOpen ? 'a server that is not used yet' : 'a server';
  if (about === 'instructions') return `the server's own description${isOpen ? ' changed' : ''}`;
  if (pinned === undefined) return isOpen ? 'a new tool' : 'a tool';
  return changed.length > 0 ? `a tool that changed: ${changed.join(', ')}` : 'a tool that changed';
}

/** One approval over several lines; a command is never shortened (S25). */
function describe(approval: Approval, terminal: Terminal, now: number): string[] {
  const { ref, about, risk, state, was, ruling, requestedAt, target, origin, hash } = approval;
  const { paint } = terminal;
  const lines = [`${paint.bold(inLine(ref))}  ${inLine(phrase(approval))}  ${paint.dim(ago(now - requestedAt))}`];
  if (about === 'launch') lines.push(`  ${origin === 'project' ? 'from a project' : origin}: ${inLine(target)}`);
  if (state === 'pending' || state === 'expired') {
    lines.push(`  risk ${paintRisk(terminal, risk.level)}: ${inLine(risk.reasons.join('; '))}`);
  }
  if (state === 'pending') {
    const word = shellWord(ref);
    const look = about === 'launch' ? '' : `toolscout diff ${word}   `;
    const approve = `toolscout approve ${word} --hash ${hash.slice(0, 12)}`;
    lines.push(paint.dim(`  → ${inLine(`${look}${approve}   toolscout reject ${word}`)}`));
  }
  if (ruling) {
    const reason = ruling.reason ? `: ${ruling.reason}` : '';
    const since = was === undefined ? '' : '; something newer took its place';
    lines.push(`  ${was ?? state} by ${inLine(`${ruling.by}${reason}`)}, ${ago(now - ruling.at)}${since}`);
  }
  return lines;
}

/** The state of calls that goes with a state of approvals. */
const CALL_STATES = {
  pending: 'waiting',
  approved: 'approved',
  rejected: 'rejected',
  expired: 'expired',
  superseded: 'used',
} as const;

/** `toolscout pending`: subjects that wait for approval, and calls that wait for confirmation (SEC-9, SEC-11). */
export function addPending(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('pending'))
    .summary('list what waits for approval')
    .description(
      'Lists servers and tools that wait for approval, with the whole command of a server and the risk, and calls that wait for a confirmation. Starts nothing.',
    )
    .option('-s, --server <id>', 'only this server')
    .addOption(new Option('--state <state>', 'approvals in another state').choices([...STATES]).default('pending'))
    .addHelpText('after', '\nExample:\n  $ toolscout pending')
    .action(async (flags: Flags) => {
      await withGateway(deps, flags, async (gateway) => {
        const approvals = await gateway.approvals.list({ server: flags.server, state: flags.state, shownTo: 'local' });
        const calls = await gateway.approvals.calls({ server: flags.server, state: CALL_STATES[flags.state] });
        const { terminal, clock } = deps;
        if (flags.json) return terminal.json({ approvals, calls });
        if (approvals.length === 0 && calls.length === 0) {
          return terminal.note(
            flags.state === 'pending' ? 'Nothing waits for approval.' : `Nothing is ${flags.state}.`,
          );
        }
        for (const approval of approvals) terminal.out(describe(approval, terminal, clock.now()).join('\n'));
        for (const call of calls) terminal.out(describeCall(call, terminal, clock.now()).join('\n'));
      });
    });
}
