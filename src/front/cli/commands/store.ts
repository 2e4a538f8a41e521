import type { Command } from 'commander';
import { DOUBT_PHRASES } from '../../../model/store.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { ago, inLine } from '../render.js';

/** `toolscout store`: where state is kept, and accepting a store that is not what it was (A48). */
export function addStore(program: Command, deps: CliDeps): void {
  const store = program
    .command('store')
    .summary('show, copy or accept the store')
    .description(
      'Shows where state is kept, copies it to another store, and accepts a store that was replaced, restored or damaged.',
    )
    .addHelpText('after', '\nExamples:\n  $ toolscout store status\n  $ toolscout store accept');

  withCommonFlags(store.command('status'))
    .description('Shows where the store is, whether it can be written, and whether it must be accepted.')
    .addHelpText('after', '\nExample:\n  $ toolscout store status --json')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        await gateway.ready();
        const status = await gateway.config.storeStatus();
        const { terminal, clock } = deps;
        if (flags.json) return terminal.json(status);
        terminal.out(inLine(status.location));
        terminal.out(status.writable ? 'can be written' : `cannot be written: ${inLine(status.problem ?? '')}`);
        const { doubt } = status;
        if (doubt)
          terminal.out(`not accepted: ${doubt.reason}, ${ago(clock.now() - doubt.at)}; toolscout store accept`);
      });
    });

  withCommonFlags(store.command('migrate'))
    .argument('<from>', 'sqlite, sqlite:DIRECTORY or postgres://user@host:port/database')
    .argument('<to>', 'the same; it must be empty')
    .description(
      'Copies everything from one store to another and compares both. Stop every toolscout that uses them before; then name the new store in the config.',
    )
    .addHelpText(
      'after',
      '\nExample:\n  $ PGPASSWORD=… toolscout store migrate sqlite postgres://toolscout@db.example/toolscout',
    )
    .option('--accept-audit', 'copy the audit log also when it was changed after it was written')
    .action(async (from: string, to: string, flags: CommonFlags & { readonly acceptAudit?: boolean }) => {
      const { stateDir, acceptAudit } = flags;
      const report = await deps.migrateStore({ from, to, stateDir, acceptAudit });
      const { terminal } = deps;
      if (flags.json) return terminal.json(report);
      terminal.out(`${inLine(report.from)} → ${inLine(report.to)}`);
      for (const [space, count] of Object.entries(report.spaces)) terminal.out(`${inLine(space)}  ${count}`);
      terminal.out(`audit records  ${report.records}`);
      if (report.auditProblem !== undefined)
        terminal.note(
          `The audit log was not what was written: ${inLine(report.auditProblem)} The copy has a new chain.`,
        );
      terminal.out(`The copy is the same (sha256 ${report.hash.slice(0, 16)}…).`);
    });

  withCommonFlags(store.command('accept'))
    .description(
      'Accepts the store as it is, after it vanished, was replaced, was restored from an older copy or was damaged. Servers are used again; what is not pinned in it is trusted on first use.',
    )
    .option('--reason <text>', 'why; it is kept in the audit log')
    .addHelpText('after', '\nExample:\n  $ toolscout store accept --reason "restored the backup"')
    .action(async (flags: CommonFlags & { readonly reason?: string }) => {
      await withGateway(deps, flags, async (gateway) => {
        const accepted = await gateway.config.acceptStore({ by: 'local', reason: flags.reason });
        const { terminal } = deps;
        if (flags.json) terminal.json({ accepted: accepted?.reason ?? null });
        else if (accepted)
          terminal.out(`Accepted the store: ${DOUBT_PHRASES[accepted.reason]}. Servers are used again.`);
        else terminal.note('The store is not in doubt; there is nothing to accept.');
      });
    });
}
