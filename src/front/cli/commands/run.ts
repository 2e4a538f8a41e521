import type { Command } from 'commander';
import { ERROR_TABLE } from '../../../kernel/errors.js';
import { printable } from '../../../kernel/text.js';
import { nothingReturned, type ScriptResult } from '../../../model/script.js';
import { wholeNumber, unreadable } from '../arguments.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';

interface Flags extends CommonFlags {
  readonly timeout?: number;
  readonly skill?: string;
}

async function readScript(source: string, deps: CliDeps): Promise<string> {
  try {
    return await (source === '-' ? deps.readStdin() : deps.readFile(source));
  } catch (thrown) {
    throw unreadable(source, thrown);
  }
}

/** The outcome as it is printed; its suggestion is in the words of this front already. */
function shown({ error, ...rest }: ScriptResult): object {
  if (!error) return rest;
  const { remedy: _, ...told } = error;
  return { ...rest, error: told };
}

/** `toolscout run`: run a script that calls tools. */
export function addRun(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('run'))
    .summary('run a script that calls tools')
    .description(
      'Runs a script: the body of an async JavaScript function, in a sandbox. It calls tools as await tools.SERVER.TOOL({…}); what it returns is printed.',
    )
    .argument('<file>', 'the script; - for stdin')
    .option('--skill <id>', 'call as this skill: only what its bindings cover')
    .option('--timeout <ms>', 'stop the script after this time', wholeNumber)
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout run report.js\n  $ echo \'return (await tools.everything["get-sum"]({a: 1, b: 2}))\' | toolscout run -',
    )
    .action(async (file: string, flags: Flags) => {
      const script = await readScript(file, deps);
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const stop = new AbortController();
        void deps.stopped().then(() => stop.abort());
        const caller = flags.skill === undefined ? gateway : gateway.as(await gateway.skills.viewer(flags.skill));
        const result = await caller.run(script, {
          route: 'cli',
          signal: stop.signal,
          onProgress: ({ message = '' }) => terminal.status(printable(message)),
          ...(flags.timeout !== undefined && { timeoutMs: flags.timeout }),
        });
        terminal.status('');
        const { error, value, printed } = result;
        if (flags.json) terminal.json(shown(result));
        else {
          for (const line of printed) terminal.note(printable(line));
          if (value !== undefined)
            terminal.out(printable(typeof value === 'string' ? value : JSON.stringify(value, null, 2)));
          else if (!error) terminal.note(nothingReturned(script));
        }
        if (!error) return;
        if (!flags.json) {
          terminal.note(`${terminal.paint.red(error.code)}: ${printable(error.message)}`);
          if (error.suggestion !== '') terminal.note(printable(error.suggestion));
        }
        throw new Exit(ERROR_TABLE[error.code].exit);
      });
    });
}
