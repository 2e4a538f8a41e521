import { InvalidArgumentError, Option, type Command } from 'commander';
import { ToolscoutError } from '../../../kernel/errors.js';
import type { LogLevel } from '../../../kernel/log.js';
import type { ModeName } from '../../../model/config.js';
import { portNumber } from '../arguments.js';
import { withCommonFlags, type CliDeps, type CommonFlags, type OpenOptions, type ServeOptions } from '../context.js';

function seconds(value: string): number {
  const number = Number(value);
  if (value.trim() === '' || !(number >= 0)) throw new InvalidArgumentError('It must be a number of seconds.');
  return number;
}

/** Written out, so that the command line does not load the schema of the configuration. */
const MODES: readonly ModeName[] = ['meta', 'passthrough', 'hybrid', 'code', 'auto'];

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Options of this command only. */
type Flags = CommonFlags &
  Partial<Omit<ServeOptions, keyof OpenOptions>> &
  Pick<OpenOptions, 'logLevel'> & { readonly idle?: number };

/** `toolscout serve`: the gateway itself. */
export function addServe(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('serve'))
    .summary('run the gateway for hosts to connect to')
    .description('Runs the gateway: over HTTP on 127.0.0.1:7077, or with --stdio for a host that starts it itself.')
    .option('--stdio', 'speak MCP over stdin and stdout')
    .option(
      '--shared',
      'with --stdio: connect to the service that all hosts of this user share; without --stdio: run that service',
    )
    .addOption(new Option('--shared-key <key>', 'the name of the service').hideHelp())
    .option('--idle <seconds>', 'with --shared: end the service after this time without a host (default: 300)', seconds)
    .option('--server <id>', 'with --stdio: serve only this server, with the names of its tools unchanged')
    .addOption(
      new Option('--mode <mode>', 'what hosts are offered; overrides mode of the config, not hostModes').choices(MODES),
    )
    .option('--skill <id>', 'offer only what this skill declared')
    .option('--admin', 'offer the tools that propose servers; without http.auth also allow admin requests over HTTP')
    .option('--host <address>', 'listen on this address; any but a loopback address needs http.auth')
    .addOption(
      new Option(
        '--log-level <level>',
        'log to stderr from this level on (default: info, with --stdio warn; --verbose is debug)',
      ).choices(LEVELS),
    )
    .option('-p, --port <port>', 'listen on this port (0: any free one)', portNumber)
    .addHelpText('after', '\nExamples:\n  $ toolscout serve\n  $ toolscout serve --stdio --config ~/tools.yaml')
    .action(async (flags: Flags) => {
      if (flags.server !== undefined && !flags.stdio) {
        throw new ToolscoutError('INVALID_REQUEST', '--server needs --stdio.', {
          suggestion: `Add --stdio, or connect over HTTP to the address /servers/${flags.server}/mcp.`,
        });
      }
      await deps.serve({
        config: flags.config,
        stateDir: flags.stateDir,
        demo: flags.demo,
        // A host may show or keep everything that a server writes, so over stdio only what needs attention is logged.
        logLevel: flags.logLevel ?? (flags.verbose ? 'debug' : flags.stdio || flags.shared ? 'warn' : 'info'),
        learnAtStart: true,
        watch: true,
        stdio: flags.stdio ?? false,
        shared: flags.shared,
        sharedKey: flags.sharedKey,
        idleMs: flags.idle === undefined ? undefined : flags.idle * 1000,
        server: flags.server,
        skill: flags.skill,
        admin: flags.admin,
        mode: flags.mode,
        host: flags.host,
        port: flags.port,
      });
    });
}
