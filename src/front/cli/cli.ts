import { Command, CommanderError } from 'commander';
import { ERROR_TABLE, toToolscoutError } from '../../kernel/errors.js';
import { printable } from '../../kernel/text.js';
import { addApprove, addReject } from './commands/approve.js';
import { addAudit } from './commands/audit.js';
import { addAuth } from './commands/auth.js';
import { addCache } from './commands/cache.js';
import { addCall } from './commands/call.js';
import { addConfig } from './commands/config.js';
import { addDiff } from './commands/diff.js';
import { addDiscover, addWarm } from './commands/discover.js';
import { addDoctor } from './commands/doctor.js';
import { addEval } from './commands/eval.js';
import { addExport } from './commands/export.js';
import { addImport } from './commands/import.js';
import { addInspect } from './commands/inspect.js';
import { addPending } from './commands/pending.js';
import { addInstall } from './commands/install.js';
import { addRegistry } from './commands/registry.js';
import { addSearch } from './commands/search.js';
import { addServe } from './commands/serve.js';
import { addServers } from './commands/servers.js';
import { addSkills } from './commands/skills.js';
import { addTools } from './commands/tools.js';
import { addWhy } from './commands/why.js';
import { Exit, failureJson, type CliDeps } from './context.js';

/** The exit code of a command line that could not be understood (CLI-2). */
const USAGE = 64;

const COMMANDS = [
  addServe,
  addServers,
  addSearch,
  addTools,
  addInspect,
  addCall,
  addDiscover,
  addWarm,
  addPending,
  addApprove,
  addReject,
  addDiff,
  addAuth,
  addRegistry,
  addExport,
  addImport,
  addInstall,
  addConfig,
  addCache,
  addAudit,
  addDoctor,
  addEval,
  addWhy,
  addSkills,
];

function createProgram(deps: CliDeps): Command {
  const program = new Command('toolscout')
    .description('Hundreds of MCP servers for the price of five tools.')
    .version(deps.version, '-V, --version')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout serve\n  $ toolscout search "read a text file"\n  $ toolscout call filesystem read_text_file path=README.md',
    )
    .showSuggestionAfterError()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => deps.terminal.out(text.trimEnd()),
      writeErr: (text) => deps.terminal.note(text.trimEnd()),
    });
  for (const add of COMMANDS) add(program, deps);
  // Sub-commands do not inherit these two.
  const prepare = (command: Command): void => {
    command.exitOverride().copyInheritedSettings(program);
    command.commands.forEach(prepare);
  };
  program.commands.forEach(prepare);
  return program;
}

/** Runs one command line and answers its exit code (CLI-2). */
export async function runCli(args: readonly string[], deps: CliDeps): Promise<number> {
  const program = createProgram(deps);
  try {
    if (args.length === 0) {
      program.outputHelp();
      return USAGE;
    }
    await program.parseAsync([...args], { from: 'user' });
    return 0;
  } catch (thrown) {
    if (thrown instanceof Exit) return thrown.code;
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    const error = toToolscoutError(thrown);
    const { terminal } = deps;
    if (args.includes('--json')) terminal.out(printable(JSON.stringify(failureJson(error))));
    terminal.note(`${terminal.paint.red(error.code)}: ${printable(error.message)}`);
    terminal.note(printable(error.suggestion));
    return ERROR_TABLE[error.code].exit;
  }
}
