import type { Command } from 'commander';
import { counted, printable } from '../../../kernel/text.js';
import type { ClientRows, ImportPlan, ImportRow } from '../../../model/source.js';
import { knownClient } from '../clients.js';
import { filledIn } from '../arguments.js';
import { Exit, type CliDeps } from '../context.js';
import { table } from '../render.js';

interface Flags {
  readonly json?: boolean;
  readonly config?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly home?: string;
  readonly project?: string;
  readonly withCredentials?: boolean;
}

const STATUS: Readonly<Record<Exclude<ImportRow['status'], 'new'>, string>> = {
  present: 'there already',
  same: 'the same as above',
  'name-taken': 'left out: its name is taken',
};

function fateOf({ status, how, scope }: ImportRow): string {
  if (status !== 'new') return STATUS[status];
  if (how === 'copy') return 'new';
  return scope === 'project' ? 'new, pending' : 'new, stays in its file';
}

function describe(row: ImportRow): string {
  const off = row.enabled ? [] : ['off'];
  const tools = row.disabledTools.length > 0 ? [`without ${row.disabledTools.join(', ')}`] : [];
  const only = row.enabledTools ? [`only ${row.enabledTools.join(', ')}`] : [];
  return [fateOf(row), ...off, ...tools, ...only].join('; ');
}

function show(deps: CliDeps, clients: readonly ClientRows[]): void {
  const { terminal } = deps;
  const rows = clients.flatMap(({ client, servers }) =>
    servers.map((row) => [client, row.server, row.scope, row.transport.type, row.transport.target, describe(row)]),
  );
  // The target is cut: one long command must not push everything else off the screen.
  const cut = rows.map((row) => row.map((cell, at) => (at === 4 && cell.length > 48 ? `${cell.slice(0, 47)}…` : cell)));
  if (cut.length > 0) terminal.out(table(terminal, ['CLIENT', 'SERVER', 'SCOPE', 'OVER', 'TARGET', 'NOTES'], cut));
  for (const { client, servers, problems } of clients) {
    for (const { server, notes } of servers) {
      for (const note of notes) terminal.note(printable(`${client}: ${server}: ${note}`));
    }
    for (const { path, message } of problems) {
      terminal.note(terminal.paint.yellow(printable(`${client}: ${path}: ${message}`)));
    }
  }
}

/** Whether to write: by flag, by answer, or not at all without a terminal. */
async function isWanted(deps: CliDeps, flags: Flags, plan: ImportPlan): Promise<boolean> {
  if (flags.dryRun || plan.additions === 0 || plan.paste !== undefined) return false;
  if (flags.yes) return true;
  if (flags.json) return false;
  const answer = await deps.confirm(`Add ${counted(plan.additions, 'server')} to ${plan.config}?`);
  if (answer === undefined) deps.terminal.note('Nothing was written. Run it with --yes to write.');
  return answer ?? false;
}

const ADD_ONE = 'Add one with: toolscout add NAME -- COMMAND';

/** Says what was added, what to add by hand, and which files were not read. */
function sayOutcome(
  { terminal }: CliDeps,
  plan: ImportPlan,
  done: { readonly written: boolean; readonly backup?: string; readonly secretsFile?: string },
): void {
  const unread = plan.clients.flatMap(({ unreadable }) => unreadable);
  if (plan.clients.length === 0) terminal.note(`No client with servers was found. ${ADD_ONE}`);
  else if (plan.additions === 0) {
    const where = unread.length > 0 ? 'all servers of the files that were read' : 'them all';
    const isEmpty = plan.clients.every(({ servers }) => servers.length === 0);
    terminal.note(
      isEmpty
        ? `The files of your clients hold no servers. ${ADD_ONE}`
        : `Nothing to add: ${plan.config} has ${where}.`,
    );
  } else if (plan.paste !== undefined) {
    terminal.note(`${plan.config} is not edited by toolscout. Add this to it:`);
    terminal.out(printable(plan.paste));
  }
  if (done.written) terminal.out(`Added ${counted(plan.additions, 'server')} to ${plan.config}.`);
  if (done.secretsFile !== undefined) terminal.note(printable(`Their credentials are in ${done.secretsFile}.`));
  if (done.backup !== undefined) terminal.note(`What was there before: ${done.backup}`);
  for (const file of unread) {
    terminal.note(terminal.paint.yellow(printable(`${file} was not read. Fix it, then run this again.`)));
  }
}

/** `toolscout import`: copy the servers of other clients into the config (CFG-5). */
export function addImport(program: Command, deps: CliDeps): void {
  program
    .command('import')
    .summary('copy the servers of other clients into the config')
    .description(
      'Finds the servers that other clients on this machine have, shows what it would add to the config, asks, and adds. ' +
        'A server that holds credentials stays in its file and is named in "sources", unless --with-credentials is given.',
    )
    .argument('[client...]', 'only these clients, such as claude-desktop, cursor or vscode')
    .option('--json', 'print JSON on stdout; writes only with --yes')
    .option('-c, --config <file>', 'write to this config file', filledIn)
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'write nothing')
    .option('--with-credentials', 'copy credentials too, into a file with secrets that only you can read')
    .option('--home <dir>', 'look for clients in this home directory')
    .option('--project <dir>', 'look for files of the project in this folder (default: the current one)')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout import\n  $ toolscout import cursor vscode --dry-run\n  $ toolscout import claude-desktop --with-credentials',
    )
    .action(async (names: string[], flags: Flags) => {
      const { importable } = await deps.clients();
      const clients = names.map((name) => knownClient(name, importable));
      const { config: file, home, project, withCredentials: credentials } = flags;
      const plan = await deps.planImport({ clients, config: file, home, project, credentials });
      const { terminal } = deps;
      if (!flags.json) show(deps, plan.clients);
      const written = await isWanted(deps, flags, plan);
      const { backup, secretsFile } = written ? await plan.apply() : {};
      if (flags.json) {
        const { config, additions, paste } = plan;
        terminal.json({ config, clients: plan.clients, additions, paste, written, backup, secretsFile });
      } else sayOutcome(deps, plan, { written, backup, secretsFile });
      if (plan.clients.some(({ unreadable }) => unreadable.length > 0)) throw new Exit(1);
    });
}
