import type { Command } from 'commander';
import { counted } from '../../../kernel/text.js';
import { withCommonFlags, type CliDeps, type CommonFlags, type RunningService } from '../context.js';
import { ago, inLine } from '../render.js';

/** One line about a service. */
export function describeService({ pid, version, config, hosts, startedAt }: RunningService, now: number): string {
  const since = ago(now - startedAt);
  return `process ${pid}, version ${inLine(version)}, ${counted(hosts, 'host')}, started ${since}: ${inLine(config)}`;
}

/** `toolscout service`: the processes that serve hosts started with `serve --stdio --shared` (STORE-6). */
export function addService(program: Command, deps: CliDeps): void {
  const { terminal, clock } = deps;
  const service = program
    .command('service')
    .summary('show or stop the local services that hosts share')
    .description('Shows and stops the processes that serve all hosts of this user (serve --stdio --shared).')
    .addHelpText('after', '\nExamples:\n  $ toolscout service status\n  $ toolscout service stop');

  withCommonFlags(service.command('status'))
    .description('Lists the services that run, with their process, config and connected hosts.')
    .addHelpText('after', '\nExample:\n  $ toolscout service status --json')
    .action(async (flags: CommonFlags) => {
      const services = await deps.services('status', flags.stateDir);
      if (flags.json) return terminal.json({ services });
      for (const each of services) terminal.out(describeService(each, clock.now()));
      if (services.length === 0) terminal.out('No service runs. A host with "serve --stdio --shared" starts one.');
    });

  withCommonFlags(service.command('stop'))
    .description(
      'Stops the services and the servers that they started. A host that is still open starts one again when it needs it.',
    )
    .addHelpText('after', '\nExample:\n  $ toolscout service stop')
    .action(async (flags: CommonFlags) => {
      const services = await deps.services('stop', flags.stateDir);
      if (flags.json) return terminal.json({ stopped: services });
      for (const each of services) terminal.out(`Stopped ${describeService(each, clock.now())}`);
      if (services.length === 0) terminal.out('No service runs.');
    });
}
