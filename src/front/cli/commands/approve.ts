import type { Command } from 'commander';
import type { Gateway } from '../../../gateway/index.js';
import { decideCall, isCallId } from '../pending-calls.js';
import { inLine } from '../render.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

interface Flags extends CommonFlags {
  readonly all?: boolean;
  readonly includeCritical?: boolean;
  readonly reason?: string;
  readonly hash?: string;
}

const SKIPPED = {
  critical: 'critical risk: approve it by name, or add --include-critical',
  changed: 'changed since it was shown to you: run toolscout pending',
  'not-shown': 'not shown to you yet: run toolscout pending',
} as const;

/** References printed of a decision about many tools. */
const SHOWN = 20;

function addRuling(
  program: Command,
  deps: CliDeps,
  verb: 'approve' | 'reject',
  words: { readonly summary: string; readonly description: string; readonly example: string; readonly done: string },
): void {
  const command = withCommonFlags(program.command(verb))
    .summary(words.summary)
    .description(words.description)
    .argument('<ref>', 'id of a server, server:tool, or id of a pending call')
    .option('--all', 'all pending requests of the server, its tools included')
    .option('--reason <text>', 'the reason; it is kept with the decision')
    .option('--hash <hash>', 'only if this is still its hash; the first 12 characters are enough')
    .addHelpText('after', `\nExample:\n  $ toolscout ${words.example}`)
    .action(async (ref: string, flags: Flags) => {
      await withGateway(deps, flags, async (gateway: Gateway) => {
        if (isCallId(ref)) return decideCall(gateway, deps.terminal, verb, ref, flags);
        const { all, includeCritical, reason, hash } = flags;
        const report = await gateway.approvals[verb](ref, {
          by: 'local',
          all,
          includeCritical,
          reason,
          hash,
          requireShown: true,
        });
        const { terminal } = deps;
        if (flags.json) return terminal.json(report);
        for (const { ref: each, about, hash: whole } of report.approvals.slice(0, SHOWN)) {
          const what = about === 'instructions' ? ' (its own description)' : '';
          terminal.out(
            `${words.done} ${terminal.paint.bold(inLine(each))}${what} ${terminal.paint.dim(whole.slice(0, 12))}`,
          );
        }
        const more = report.approvals.length - SHOWN;
        if (more > 0) terminal.out(`… and ${more} more`);
        for (const { ref: each, reason: why } of report.skipped.slice(0, SHOWN)) {
          terminal.note(`Not approved: ${inLine(each)} (${SKIPPED[why]})`);
        }
        for (const folder of report.promoted) terminal.out(`Promoted its exported files: ${inLine(folder)}`);
      });
    });
  if (verb === 'approve') command.option('--include-critical', 'with --all: also requests of critical risk');
}

/** `toolscout approve`: trusts what waits, exactly as it is (SEC-9). */
export function addApprove(program: Command, deps: CliDeps): void {
  addRuling(program, deps, 'approve', {
    summary: 'trust a server or a tool that waits for approval',
    description:
      'Trusts a server, or a tool exactly as pending or diff showed it. From then on it can be searched and called, here and in every running toolscout. What changed after it was shown is refused; a later change waits for approval again. With the id of a pending call: that call may be made once.',
    example: 'approve github:create_issue --hash 5d0c0f1f7a3e --reason "read the diff"',
    done: 'Approved',
  });
}

/** `toolscout reject`: keeps out what waits, or takes back trust (SEC-9). */
export function addReject(program: Command, deps: CliDeps): void {
  addRuling(program, deps, 'reject', {
    summary: 'reject a server or a tool, or revoke its trust',
    description:
      'Rejects a server or a tool that waits for approval, or revokes the trust in one that was approved. With the id of a pending call: that call is not made.',
    example: 'reject team-db --reason "unknown author"',
    done: 'Rejected',
  });
}
