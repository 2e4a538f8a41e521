import type { Command } from 'commander';
import { ToolscoutError } from '../../../kernel/errors.js';
import {
  type AuditProblem,
  type AuditVerification,
  type ChainHead,
  readHead,
  writeHead,
} from '../../../model/audit-chain.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { inLine } from '../render.js';

/** The exit code of a log that was changed after it was written. */
const TAMPERED = 4;

interface Flags extends CommonFlags {
  readonly head: readonly string[];
}

function toHead(text: string): ChainHead {
  const head = readHead(text);
  if (head) return head;
  throw new ToolscoutError('INVALID_REQUEST', `--head "${text}" is not valid: expected CHAIN:NUMBER:HASH.`, {
    suggestion: 'Copy the value after "head" from the output of an earlier toolscout audit verify.',
  });
}

function describeProblem({ damage, id, time, block, detail }: AuditProblem): string[] {
  const record = id === undefined ? 'record: not known' : `record ${inLine(id)}`;
  const when =
    time === undefined || Number.isNaN(new Date(time).getTime()) ? '' : ` of ${new Date(time).toISOString()}`;
  const where = block ? `, block ${block.number} of chain ${inLine(block.chain)}` : '';
  return [`${damage}: ${record}${when}${where}`, inLine(detail)];
}

function headline({ damage }: AuditProblem): string {
  return damage === 'unchained'
    ? 'Some records are not protected by the hash chain.'
    : 'The audit log was changed after it was written.';
}

/** What a verification found, as lines. */
export function describeVerification(found: AuditVerification): string[] {
  const { records, blocks, forgotten, unchained, heads, problem } = found;
  const isBroken = problem !== undefined && problem.damage !== 'unchained';
  const until = unchained.until === undefined ? '' : ` until ${new Date(unchained.until).toISOString()}`;
  return [
    ...(problem ? [headline(problem), ...describeProblem(problem)] : []),
    `${records} records in ${blocks} blocks${isBroken ? ' before the problem' : ''} are unchanged.`,
    ...(unchained.records > 0 ? [`${unchained.records} records${until} are not protected by the hash chain.`] : []),
    ...(forgotten > 0 ? [`${forgotten} records were removed by retention.`] : []),
    ...heads.map((head) => `head ${writeHead(head)}`),
  ];
}

/** `toolscout audit verify`: whether the audit log was changed after it was written (SEC-12). */
export function addAuditVerify(audit: Command, deps: CliDeps): void {
  withCommonFlags(audit.command('verify'))
    .summary('check that no record was changed, removed, inserted or moved')
    .description(
      'Compares the audit log with its hash chain and names the first record that was changed, removed, inserted or moved. Exits with 4 then. ' +
        'Keep the printed heads elsewhere and give one with --head: only that shows that the end of the log was cut off, or the whole log rewritten with matching hashes.',
    )
    .option(
      '--head <head>',
      'a head of an earlier verification (repeatable)',
      (text, all: string[]) => [...all, text],
      [],
    )
    .addHelpText('after', '\nExample:\n  $ toolscout audit verify --json')
    .action(async (_flags: Flags, command: Command) => {
      const flags = command.optsWithGlobals<Flags>();
      const heads = flags.head.map(toHead);
      await withGateway(deps, flags, async (gateway) => {
        const found = await gateway.audit.verify({ heads });
        const { terminal } = deps;
        if (flags.json) terminal.json(found);
        else for (const line of describeVerification(found)) terminal.out(line);
        if (!found.ok) throw new Exit(TAMPERED);
      });
    });
}
