import type { Command } from 'commander';
import type { Gateway } from '../../../gateway/index.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import { shellWord } from '../../../kernel/remedy.js';
import { CODE_LIFETIME_MS, CODE_TICKET, PROBE_LIFETIME_MS, PROBE_TICKET } from '../../code-ticket.js';
import { portNumber } from '../arguments.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags, type StoreAnswer } from '../context.js';

/**
 * The address of the page with a new sign-in code: a user who can open the store may administer toolscout, so the code
 * signs them in (STUDIO-6).
 */
export async function studioAddress(gateway: Gateway, url: string): Promise<string> {
  const code = await gateway.sessions.issueTicket(CODE_TICKET, true, CODE_LIFETIME_MS);
  return `${url}/#/sign-in?code=${code}`;
}

/** What to do where the toolscout that answers keeps its state elsewhere. */
function otherStateAdvice({ stateDir, config }: StoreAnswer): string {
  if (stateDir === 'memory') return 'It keeps its state in memory: start it with --admin, or with a state directory.';
  // A database is named in the config, so that the folder of the state alone is not enough.
  const flags = [
    ...(stateDir === undefined ? [] : [`--state-dir ${shellWord(stateDir)}`]),
    ...(config === undefined ? [] : [`--config ${shellWord(config)}`]),
  ];
  if (flags.length > 0) return `Pass ${flags.join(' ')}.`;
  return 'Pass the --state-dir and the --config that it was started with; leave out those that it was started without.';
}

/** Refuses to make a code that the toolscout at this address would not know (STUDIO-6). */
async function requireOwnStore(gateway: Gateway, url: string, ask: CliDeps['askStore']): Promise<void> {
  const probe = await gateway.sessions.issueTicket(PROBE_TICKET, true, PROBE_LIFETIME_MS);
  const answer = await ask(url, probe);
  if (answer.sharesStore !== false) return;
  const { port, protocol } = new URL(url);
  const where = port || (protocol === 'https:' ? '443' : '80');
  throw new ToolscoutError(
    'CONFIGURATION_ERROR',
    `The gateway on port ${where} uses another state directory or database.`,
    {
      suggestion: otherStateAdvice(answer),
    },
  );
}

interface Flags extends CommonFlags {
  readonly open: boolean;
  readonly port?: number;
}

/** `toolscout studio`: opens the page, and serves it when no process does yet. */
export function addStudio(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('studio'))
    .summary('open the web page')
    .description('Opens Studio in the browser, signed in. Starts the gateway first where none serves this config.')
    .option('-p, --port <port>', 'the port of the gateway, where it is not that of the config', portNumber)
    .option('--no-open', 'print the address instead of opening it')
    .addHelpText('after', '\nExamples:\n  $ toolscout studio\n  $ toolscout studio --no-open --config ~/tools.yaml')
    .action(async (flags: Flags) => {
      const { terminal } = deps;
      const show = async (address: string, isStarted: boolean): Promise<void> => {
        if (flags.json) return terminal.json({ url: address, started: isStarted });
        terminal.out(`\n  Studio: ${address}\n  This address signs you in once, within two minutes.`);
        if (!flags.open) return;
        await deps
          .openBrowser(address)
          .catch((thrown: unknown) => terminal.note(`The browser could not be opened: ${messageOf(thrown)}`));
      };
      const { http } = (await deps.readConfig(flags)).config;
      const host = http.host.includes(':') ? `[${http.host}]` : http.host;
      const local = `http://${host}:${flags.port ?? http.port}`;
      const url = flags.port === undefined ? (http.publicUrl?.replace(/\/+$/, '') ?? local) : local;
      if (await deps.isServing(url)) {
        await withGateway(deps, flags, async (gateway) => {
          await requireOwnStore(gateway, url, deps.askStore);
          await show(await studioAddress(gateway, url), false);
        });
        return;
      }
      await deps.serve({
        config: flags.config,
        stateDir: flags.stateDir,
        demo: flags.demo,
        logLevel: flags.verbose ? 'debug' : 'warn',
        learnAtStart: true,
        watch: true,
        stdio: false,
        ...(flags.port !== undefined && { port: flags.port }),
        onStudio: (address) => show(address, true),
      });
    });
}
