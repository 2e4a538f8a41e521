import type { Command } from 'commander';
import type { SignInStatus } from '../../../gateway/index.js';
import { messageOf } from '../../../kernel/errors.js';
import { printable } from '../../../kernel/text.js';
import { collect, wholeNumber } from '../arguments.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

interface LoginFlags extends CommonFlags {
  readonly browser: boolean;
  readonly paste?: boolean;
  readonly scope?: string[];
  readonly timeout: number;
}

const STATES: Record<SignInStatus['state'], string> = {
  'signed-in': 'signed in',
  expired: 'the sign-in has ended',
  'signed-out': 'not signed in',
  configured: 'uses the credential of its config or of the environment',
  unusable: 'cannot be used',
  local: 'is a local process; there is nothing to sign in to',
};

function lines(status: SignInStatus): string {
  const rows: Array<[string, string | undefined]> = [
    ['problem', status.problem],
    ['by', status.issuer],
    ['for', status.resource],
    ['scopes', status.scopes?.join(' ')],
    ['missing', status.missingScopes?.join(' ')],
    ['until', status.expiresAt === undefined ? undefined : new Date(status.expiresAt).toISOString()],
    ['renewed', status.renewable === undefined ? undefined : status.renewable ? 'by itself' : 'no; sign in again then'],
  ];
  const shown = rows.filter(([, value]) => value !== undefined && value !== '');
  return [
    `${status.server}: ${STATES[status.state]}`,
    ...shown.map(([name, value]) => `  ${name.padEnd(8)}${printable(value ?? '')}`),
  ].join('\n');
}

function addLogin(auth: Command, deps: CliDeps): void {
  const { terminal } = deps;
  withCommonFlags(auth.command('login'))
    .description('Signs in to a remote server in the browser, and learns its tools.')
    .argument('<server>', 'id of a server')
    .option('--no-browser', 'print the address instead of opening it')
    .option('--paste', 'ask for the address the browser ended at: for a browser on another machine')
    .option('--scope <scope>', 'ask for this scope as well; repeatable', collect)
    .option('--timeout <seconds>', 'how long to wait', wholeNumber, 300)
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout auth login issues\n  $ toolscout auth login issues --no-browser --paste',
    )
    .action(async (server: string, flags: LoginFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const show = async (url: string): Promise<void> => {
          terminal.note(`Sign in here:\n\n  ${printable(url)}\n`);
          if (!flags.browser) return;
          await deps.openBrowser(url).catch((thrown: unknown) => {
            terminal.note(`No browser could be opened (${printable(messageOf(thrown))}); open the address yourself.`);
          });
        };
        const paste = async (signal: AbortSignal): Promise<string> => {
          terminal.note('Then paste the address the browser ended at, and press Enter:');
          return deps.readLine(signal);
        };
        const stop = new AbortController();
        void deps.stopped().then(() => stop.abort());
        const status = await gateway.servers.signIn(server, {
          open: show,
          timeoutMs: flags.timeout * 1000,
          signal: stop.signal,
          ...(flags.paste && { paste }),
          ...(flags.scope && { scopes: flags.scope }),
        });
        const [learned] = await gateway.servers.discover([server]);
        const tools = learned?.ok === true ? learned.tools : undefined;
        if (flags.json) return terminal.json({ ...status, ...(tools !== undefined && { tools }) });
        terminal.out(lines(status));
        if (learned?.ok === true) terminal.out(`  tools   ${learned.tools}`);
        else if (learned) terminal.note(`Cannot list its tools: ${printable(learned.error.message)}`);
      });
    });
}

/** `toolscout auth`: signing in to remote servers, and out. */
export function addAuth(program: Command, deps: CliDeps): void {
  const { terminal } = deps;
  const auth = program
    .command('auth')
    .summary('sign in to a remote server, or sign out')
    .description(
      'Signs in to remote servers that ask for it (OAuth 2.1). Tokens are kept in the state directory and never shown.',
    )
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout auth login issues\n  $ toolscout auth status\n  $ toolscout auth logout issues',
    );

  addLogin(auth, deps);

  withCommonFlags(auth.command('status'))
    .description(
      'Shows the authorization server, the scopes and the expiry of a sign-in: of one server, or of all remote servers.',
    )
    .argument('[server]', 'id of a server')
    .addHelpText('after', '\nExample:\n  $ toolscout auth status --json')
    .action(async (server: string | undefined, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const views = server === undefined ? await gateway.servers.list() : [];
        const ids =
          server === undefined ? views.filter((view) => view.transport.type !== 'stdio').map(({ id }) => id) : [server];
        const servers = await Promise.all(ids.map((id) => gateway.servers.signInStatus(id)));
        if (flags.json) return terminal.json({ servers });
        if (servers.length === 0) return terminal.note('No remote server is configured.');
        terminal.out(servers.map(lines).join('\n'));
      });
    });

  withCommonFlags(auth.command('logout'))
    .description('Deletes the sign-in to a server, and revokes it if the authorization server supports that.')
    .argument('<server>', 'id of a server')
    .addHelpText('after', '\nExample:\n  $ toolscout auth logout issues')
    .action(async (server: string, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const done = await gateway.servers.signOut(server);
        if (flags.json) return terminal.json({ server, ...done });
        const revoked = done.revoked ? ', and revoked by its authorization server' : '';
        terminal.out(done.removed ? `${server}: signed out${revoked}` : `${server}: was not signed in`);
      });
    });
}
