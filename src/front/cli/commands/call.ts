import type { Command } from 'commander';
import { ERROR_TABLE, ToolscoutError } from '../../../kernel/errors.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { printable } from '../../../kernel/text.js';
import { PROBLEMS_IN_MESSAGE, type CallResult } from '../../../model/call.js';
import { isAddress, parseAddress } from '../address.js';
import { parseArguments, readJson, tellUnknown, wholeNumber, unreadable } from '../arguments.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { contentText } from '../render.js';

interface Flags extends CommonFlags {
  readonly args?: string;
  readonly timeout?: number;
  readonly skill?: string;
  readonly select?: string;
  readonly maxTokens?: number;
}

async function readObject(source: string, deps: CliDeps): Promise<JsonObject> {
  const read = async (): Promise<string> => {
    if (source === '-') return deps.readStdin();
    return source.startsWith('@') ? deps.readFile(source.slice(1)) : source;
  };
  const text = await read().catch((thrown: unknown) => {
    throw unreadable(source.replace(/^@/, ''), thrown);
  });
  const value = readJson(text, '--args');
  if (isObject(value)) return value;
  throw new ToolscoutError('INVALID_REQUEST', '--args must be a JSON object, e.g. --args \'{"path": "README.md"}\'.');
}

/** The outcome as it is printed; its suggestion is in the words of this front already. */
function printed(outcome: CallResult): object {
  const { error, ...rest } = outcome;
  if (!error) return rest;
  const { remedy: _, ...shown } = error;
  return { ...rest, error: shown };
}

/** `toolscout call`: run one tool. */
export function addCall(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('call'))
    .summary('run a tool')
    .description(
      'Runs a tool. Arguments are given as name=value (typed by the tool’s schema), as name:=JSON, or all at once with --args.',
    )
    .argument('<server>', 'id of the server, or server:tool')
    .argument('[tool]', 'name of the tool')
    .argument('[arguments...]', 'name=value or name:=JSON')
    .option('-a, --args <json>', 'all arguments as a JSON object, @FILE, or - for stdin')
    .option('--skill <id>', 'call as this skill: only what its bindings cover')
    .option('--select <jmespath>', 'print only this part of a JSON result')
    .option(
      '--max-tokens <count>',
      'print a preview and a handle of a result with more tokens (at least 500)',
      wholeNumber,
    )
    .option('--timeout <ms>', 'give up after this time without progress', wholeNumber)
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout call filesystem read_text_file path=README.md\n  $ toolscout call everything:get-sum a=1 b=2\n  $ toolscout call github list_issues owner=me repo=app --select "[?state==\'open\'].title"',
    )
    .action(async (first: string, second: string | undefined, rest: string[], flags: Flags) => {
      const isWhole = isAddress(first);
      const { server, tool } = parseAddress(first, isWhole ? undefined : second);
      const pairs = isWhole && second !== undefined ? [second, ...rest] : rest;
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const whole = flags.args === undefined ? {} : await readObject(flags.args, deps);
        const isPlain = pairs.length === 0 && Object.keys(whole).length === 0;
        // Only names and types of the arguments are wanted here: what is wrong with the tool, the call itself will say.
        const known = isPlain ? undefined : (await gateway.details(server, tool).catch(() => undefined))?.tool;
        const args = { ...whole, ...parseArguments(pairs, known?.parameters ?? []) };
        for (const each of tellUnknown(Object.keys(args), known?.definition['inputSchema'])) {
          terminal.note(printable(each));
        }
        // Stopping the command cancels the call, at the server and in the audit log.
        const stop = new AbortController();
        void deps.stopped().then(() => stop.abort());
        const caller = flags.skill === undefined ? gateway : gateway.as(await gateway.skills.viewer(flags.skill));
        const outcome = await caller.call(server, tool, args, {
          route: 'cli',
          timeoutMs: flags.timeout,
          select: flags.select,
          maxTokens: flags.maxTokens,
          signal: stop.signal,
          onProgress: (step) =>
            terminal.status(`${step.progress}${step.total ? `/${step.total}` : ''} ${printable(step.message ?? '')}`),
        });
        terminal.status('');
        if (flags.json) terminal.json(printed(outcome));
        else if (outcome.result) terminal.out(contentText(outcome.result));
        if (!outcome.error) return;
        const { code, message, suggestion, problems, error_code: own } = outcome.error;
        if (!flags.json && !outcome.result) {
          terminal.note(`${terminal.paint.red(code)}: ${printable(message)}`);
          const isTold = code === 'TOOL_VALIDATION_ERROR' && problems && problems.length <= PROBLEMS_IN_MESSAGE;
          for (const problem of (isTold ? undefined : problems) ?? [])
            terminal.note(printable(`  ${problem.path}: ${problem.message}`));
          if (suggestion !== '') terminal.note(printable(suggestion));
        } else if (!flags.json && (own !== undefined || suggestion !== ERROR_TABLE[code].suggestion)) {
          terminal.note(`${terminal.paint.red(printable(own ?? code))}: ${printable(suggestion)}`);
        }
        throw new Exit(ERROR_TABLE[code].exit);
      });
    });
}
