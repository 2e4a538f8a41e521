import { Command, CommanderError } from 'commander';
import { ERROR_TABLE, toToolscoutError } from '../../kernel/errors.js';
import { printable } from '../../kernel/text.js';
import { addServe } from './commands/serve.js';
import { Exit, failureJson, type CliDeps } from './context.js';

/** The exit code of a command line that could not be understood (CLI-2). */
const USAGE = 64;

type AddCommand = (program: Command, deps: CliDeps) => void;

/** A host waits for `serve`, so it comes without the others; help and mistakes need them all. */
async function commandsFor(args: readonly string[]): Promise<readonly AddCommand[]> {
  if (args[0] === 'serve') return [addServe];
  const { COMMANDS } = await import('./commands.js');
  return COMMANDS;
}

function createProgram(deps: CliDeps, commands: readonly AddCommand[]): Command {
  const program = new Command('toolscout')
    .description('A hundred MCP servers for the context cost of five tools.')
    .version(deps.version, '-V, --version')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout serve\n  $ toolscout search "read a text file"\n  $ toolscout call filesystem read_text_file path=README.md',
    )
    .showSuggestionAfterError()
    .showHelpAfterError('toolscout --help lists the commands.')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => deps.terminal.out(text.trimEnd()),
      writeErr: (text) => deps.terminal.note(text.trimEnd()),
    });
  for (const add of commands) add(program, deps);
  // Sub-commands do not inherit these two.
  const prepare = (command: Command, path: string): void => {
    command.exitOverride().copyInheritedSettings(program);
    const name = `${path} ${command.name()}`;
    command.showHelpAfterError(`See: ${name} --help`);
    for (const each of command.commands) prepare(each, name);
  };
  for (const each of program.commands) prepare(each, 'toolscout');
  return program;
}

/**
 * A request for help, as the command line that answers it. For an unknown word commander would show the help of the command before
 * it; given alone, the unknown word is reported as an error.
 */
function forHelp(program: Command, args: readonly string[]): readonly string[] {
  let isSaid = false;
  let command = program;
  const path: string[] = [];
  for (const word of args) {
    if (command.commands.length === 0 || word.startsWith('-')) break;
    if (word === 'help') {
      isSaid = true;
      continue;
    }
    path.push(word);
    const next = command.commands.find((each) => each.name() === word);
    if (!next) return isSaid || args.includes('--help') || args.includes('-h') ? path : args;
    command = next;
  }
  return isSaid ? [...path, '--help'] : args;
}

/** Runs one command line and answers its exit code (CLI-2). */
export async function runCli(args: readonly string[], deps: CliDeps): Promise<number> {
  const program = createProgram(deps, await commandsFor(args));
  try {
    if (args.length === 0) {
      program.outputHelp();
      return USAGE;
    }
    await program.parseAsync([...forHelp(program, args)], { from: 'user' });
    return 0;
  } catch (thrown) {
    if (thrown instanceof Exit) return thrown.code;
    if (thrown instanceof CommanderError) return thrown.exitCode === 0 ? 0 : USAGE;
    const error = toToolscoutError(thrown);
    const { terminal } = deps;
    // The words after "--" belong to the server's command.
    const own = args.includes('--') ? args.slice(0, args.indexOf('--')) : args;
    if (own.includes('--json')) terminal.json(failureJson(error));
    terminal.note(`${terminal.paint.red(error.code)}: ${printable(error.message)}`);
    if (error.suggestion !== '') terminal.note(printable(error.suggestion));
    return ERROR_TABLE[error.code].exit;
  }
}
