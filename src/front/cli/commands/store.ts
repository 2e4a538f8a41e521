import type { Command } from 'commander';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { ago, inLine } from '../render.js';

/** `toolscout store`: where state is kept, and accepting a store that is not what it was (A48). */
export function addStore(program: Command, deps: CliDeps): void {
  const store = program
    .command('store')
    .summary('show the store, or accept one that vanished, was replaced or was damaged')
    .description('Shows where state is kept, and accepts a store that is not the one it was.')
    .addHelpText('after', '\nExamples:\n  $ toolscout store status\n  $ toolscout store accept');

  withCommonFlags(store.command('status'))
    .description('Shows where the store is, whether it can be written, and whether it must be accepted.')
    .addHelpText('after', '\nExample:\n  $ toolscout store status --json')
    .action(async (flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        await gateway.ready();
        const status = await gateway.storeStatus();
        const { terminal, clock } = deps;
        if (flags.json) return terminal.json(status);
        terminal.out(inLine(status.location));
        terminal.out(status.writable ? 'can be written' : `cannot be written: ${inLine(status.problem ?? '')}`);
        const { doubt } = status;
        if (doubt)
          terminal.out(`not accepted: ${doubt.reason}, ${ago(clock.now() - doubt.at)}; toolscout store accept`);
      });
    });

  withCommonFlags(store.command('accept'))
    .description(
      'Accepts the store as it is, after it vanished, was replaced, went back in time or was damaged. Servers are used again; what is not pinned in it is trusted on first use.',
    )
    .option('--reason <text>', 'why; it is kept in the audit log')
    .addHelpText('after', '\nExample:\n  $ toolscout store accept --reason "restored the backup"')
    .action(async (flags: CommonFlags & { readonly reason?: string }) => {
      await withGateway(deps, flags, async (gateway) => {
        const accepted = await gateway.acceptStore({ by: 'local', reason: flags.reason });
        const { terminal } = deps;
        if (flags.json) terminal.json({ accepted: accepted?.reason ?? null });
        else if (accepted) terminal.out(`Accepted the store (${accepted.reason}). Servers are used again.`);
        else terminal.note('The store is not in doubt; there is nothing to accept.');
      });
    });
}
