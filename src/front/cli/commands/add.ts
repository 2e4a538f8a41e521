import { describeRemedy, shellWord } from '../../../kernel/remedy.js';
import { missingVariables } from '../../../model/server.js';
import type { Command } from 'commander';
import { ToolscoutError } from '../../../kernel/errors.js';
import { printable } from '../../../kernel/text.js';
import type { ServerEntry } from '../../../model/config.js';
import { collect, filledIn } from '../arguments.js';
import type { CliDeps } from '../context.js';

interface AddFlags {
  readonly json?: boolean;
  readonly config?: string;
  readonly url?: string;
  readonly header: readonly string[];
  readonly env: readonly string[];
  readonly cwd?: string;
  readonly tag: readonly string[];
  readonly allowSecrets?: boolean;
}

/** `NAME=value` as a pair; a value may be a secret, so a mistake repeats none of it. */
function readPair(text: string, flag: string, separator: RegExp): readonly [string, string] {
  const at = text.search(separator);
  if (at > 0) return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  throw new ToolscoutError('INVALID_REQUEST', `${flag} needs a name and a value: ${flag} NAME=value.`);
}

/** A variable without a value is passed on from the environment of toolscout. */
function readVariable(text: string): readonly [string, string] {
  return /^[A-Za-z_]\w*$/.test(text) ? [text, `\${${text}}`] : readPair(text, '--env', /=/);
}

function entryOf(words: readonly string[], flags: AddFlags): ServerEntry {
  const { url, cwd, header, env, tag } = flags;
  const [command, ...args] = words;
  const tags = tag.length > 0 ? { tags: [...tag] } : {};
  if (url !== undefined && command !== undefined) {
    throw new ToolscoutError('INVALID_REQUEST', 'Both --url and a command were given; a server has one of them.', {
      suggestion: 'Leave out --url, or leave out "--" and the command.',
    });
  }
  if (url === undefined && command === undefined) {
    throw new ToolscoutError('INVALID_REQUEST', 'A server needs either a command after "--", or --url.', {
      suggestion: 'Write: toolscout add NAME -- COMMAND ARGS…, or: toolscout add NAME --url https://…',
    });
  }
  if (url !== undefined) {
    if (env.length > 0 || cwd !== undefined) {
      throw new ToolscoutError('INVALID_REQUEST', '--env and --cwd are for a server with a command, not for --url.', {
        suggestion: 'Use --header for what a remote server needs.',
      });
    }
    const headers = Object.fromEntries(header.map((each) => readPair(each, '--header', /[=:]/)));
    return { url, ...(header.length > 0 ? { headers } : {}), ...tags };
  }
  if (header.length > 0) {
    throw new ToolscoutError('INVALID_REQUEST', '--header is for --url, not for a server with a command.', {
      suggestion: 'Use --env for what a command needs.',
    });
  }
  return {
    command: command!,
    ...(args.length > 0 ? { args } : {}),
    ...(env.length > 0 ? { env: Object.fromEntries(env.map(readVariable)) } : {}),
    ...(cwd === undefined ? {} : { cwd }),
    ...tags,
  };
}

/** `toolscout add`: write a server to the config. */
export function addAdd(program: Command, deps: CliDeps): void {
  program
    .command('add')
    .summary('add a server to the config')
    .description('Adds a server to the config in place and shows the exact command. Everything else in the file stays.')
    .argument('<name>', 'the id of the server')
    .argument('[command...]', 'after "--": the program of the server and its arguments')
    .option('--json', 'print JSON on stdout')
    .option('-c, --config <file>', 'write to this config file; it is created if missing', filledIn)
    .option('--url <url>', 'a remote server at this address', filledIn)
    .option('--header <name=value>', 'a header for --url; repeatable', collect, [])
    .option('--env <name=value>', 'a variable for the command; NAME alone passes it on; repeatable', collect, [])
    .option('--cwd <dir>', 'the working directory of the command', filledIn)
    .option('--tag <tag>', 'a tag of the server; repeatable', collect, [])
    .option('--allow-secrets', 'write what looks like a credential in plain text')
    .addHelpText(
      'after',
      "\nWrite a secret as '${VARIABLE}': it is read from the environment and does not stand in the file." +
        '\n\nExamples:\n  $ toolscout add files -- npx -y @modelcontextprotocol/server-filesystem /data' +
        '\n  $ toolscout add github --env GITHUB_TOKEN -- docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server' +
        "\n  $ toolscout add issues --url https://mcp.example.com/mcp --header 'Authorization=Bearer ${ISSUES_TOKEN}'",
    )
    .action(async (id: string, words: readonly string[], flags: AddFlags) => {
      const { terminal } = deps;
      const entry = entryOf(words, flags);
      const { config, allowSecrets } = flags;
      const { path, isNew, shown, problem } = await deps.addServer({ id, entry, config, allowSecrets });
      if (flags.json) return terminal.json({ id, path, created: isNew, transport: shown, problem });
      terminal.out(printable(`Added "${id}" to ${path}${isNew ? ', which is new' : ''}.`));
      // On a line of its own and never cut, however narrow the terminal is (S25).
      terminal.note(printable(`  ${shown.type === 'stdio' ? 'runs' : 'connects to'}: ${shown.target}`));
      if (shown.secrets.length > 0) {
        terminal.note(printable(`  ${shown.type === 'stdio' ? 'variables' : 'headers'}: ${shown.secrets.join(', ')}`));
      }
      if (problem !== undefined) {
        terminal.note(terminal.paint.yellow(printable(`It cannot be used yet: ${problem}.`)));
        const names = missingVariables(problem);
        if (names.length > 0) terminal.note(printable(describeRemedy({ kind: 'set-variables', names })));
      }
      terminal.note(
        printable(
          `Try: toolscout discover ${shellWord(id)}${config === undefined ? '' : ` --config ${shellWord(config)}`}`,
        ),
      );
      return undefined;
    });
}

/** `toolscout remove`: remove a server from the config. */
export function addRemove(program: Command, deps: CliDeps): void {
  program
    .command('remove')
    .summary('remove a server from the config')
    .description('Removes a server from the config in place. Everything else in the file stays, comments included.')
    .argument('<name>', 'the id of the server')
    .option('--json', 'print JSON on stdout')
    .option('-c, --config <file>', 'change this config file', filledIn)
    .addHelpText('after', '\nExample:\n  $ toolscout remove files')
    .action(async (id: string, { config, json }: Pick<AddFlags, 'config' | 'json'>) => {
      const { path } = await deps.removeServer({ id, config });
      if (json) deps.terminal.json({ id, path });
      else deps.terminal.out(printable(`Removed "${id}" from ${path}.`));
    });
}
