import type { Command } from 'commander';
import type { RegistryCandidate, RegistryPlan } from '../../../gateway/index.js';
import { shellWord } from '../../../kernel/remedy.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { counted, printable } from '../../../kernel/text.js';
import type { Launch, LaunchInput } from '../../../model/registry-server.js';
import { collect } from '../arguments.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { table } from '../render.js';
import type { Terminal } from '../terminal.js';

interface SearchFlags extends CommonFlags {
  readonly since?: string;
  readonly fresh?: boolean;
}

interface AddFlags extends CommonFlags {
  readonly input: readonly string[];
  readonly id?: string;
  readonly way?: string;
  readonly yes?: boolean;
}

/** `key=value` pairs as answers; a key that is given again has several. */
function readAnswers(pairs: readonly string[]): Record<string, string[]> {
  const answers = Object.create(null) as Record<string, string[]>;
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    // The value may be a secret that was given by mistake: only the key is repeated.
    if (equals < 1) {
      throw new ToolscoutError('INVALID_REQUEST', 'An --input is not of the form KEY=VALUE.', {
        suggestion: 'Write --input KEY=VALUE; toolscout registry show NAME lists the keys.',
      });
    }
    (answers[pair.slice(0, equals)] ??= []).push(pair.slice(equals + 1));
  }
  return answers;
}

function describe(input: LaunchInput): string {
  const notes = [
    input.required ? 'required' : 'optional',
    input.secret ? 'secret' : '',
    input.choices ? `one of ${input.choices.join(', ')}` : '',
    input.default === undefined ? '' : `default ${input.default}`,
    input.description ?? '',
  ];
  return `    ${input.key}  ${notes.filter((note) => note !== '').join('; ')}`;
}

/** The exact command on lines of its own: it is never cut, however narrow the terminal is (S25). */
function showLaunch({ paint }: Terminal, launch: Launch): string {
  if (!launch.ok) return `  ${launch.way}: cannot be launched: ${printable(launch.reason)}`;
  const { entry, inputs } = launch;
  const pairs = Object.entries(entry.env ?? entry.headers ?? {});
  return [
    `  ${launch.way}: ${paint.bold(launch.shown)}`,
    ...pairs.map(([name, value]) => printable(`    ${name}${entry.url === undefined ? '=' : ': '}${value}`)),
    ...(inputs.length > 0 ? ['    asks for:', ...inputs.map((input) => printable(`  ${describe(input)}`))] : []),
  ].join('\n');
}

function stateOf({ state, server, launch, status }: RegistryCandidate): string {
  if (state === 'configured') return `is "${server}"`;
  if (!launch.ok) return 'no launch';
  return status === 'deprecated' ? 'deprecated' : launch.way;
}

function addSearch(registry: Command, deps: CliDeps): void {
  withCommonFlags(registry.command('search <query>'))
    .description('Searches the registry for servers. Nothing that is found is started.')
    .option('--since <time>', 'only what changed since then, e.g. 2026-01-31T00:00:00Z')
    .option('--fresh', 'ask the registry even if an answer is remembered')
    .addHelpText('after', '\nExample:\n  $ toolscout registry search github')
    .action(async (query: string, flags: SearchFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const found = await gateway.registry.search(query, { updatedSince: flags.since, fresh: flags.fresh });
        if (flags.json) terminal.json(found);
        else if (found.servers.length > 0) {
          const rows = found.servers.map((each) => [each.name, each.version, stateOf(each), each.description]);
          terminal.out(table(terminal, ['SERVER', 'VERSION', 'BY', 'DESCRIPTION'], rows));
        } else terminal.note(printable(`The registry has no server for "${query}".`));
        if (found.stale !== undefined) terminal.note(printable(`Remembered from earlier: ${found.stale}`));
        if (found.truncated) terminal.note('There is more; search for something narrower.');
        if (found.servers.length === 0) throw new Exit(2);
      });
    });
}

function addShow(registry: Command, deps: CliDeps): void {
  withCommonFlags(registry.command('show <name>'))
    .description('Shows one server of the registry: every way to reach it, with the exact command. Starts nothing.')
    .addHelpText('after', '\nExample:\n  $ toolscout registry show io.github.user/weather')
    .action(async (name: string, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const plan = await gateway.registry.plan(name);
        if (flags.json) return terminal.json(plan);
        const { candidate, ways } = plan;
        terminal.out(
          [
            terminal.paint.bold(printable(`${candidate.name} ${candidate.version}`)),
            printable(candidate.description),
            ...(candidate.status === 'deprecated' ? ['It is deprecated.'] : []),
            '',
            ...(ways.length > 0
              ? ways.map((way) => showLaunch(terminal, way))
              : ['  This registry entry has no package and no URL.']),
            '',
            candidate.server === undefined
              ? printable(`Add it: toolscout registry add ${candidate.name}`)
              : `It is configured as "${candidate.server}".`,
          ].join('\n'),
        );
      });
    });
}

/** The launch that can be written, or what stands in its way. */
function launchOf({ candidate }: RegistryPlan): Extract<Launch, { ok: true }> {
  const { launch, name } = candidate;
  if (!launch.ok) {
    throw new ToolscoutError('INVALID_REQUEST', `${name} cannot be launched: ${launch.reason}.`, {
      suggestion: `Other packages and addresses of the server: toolscout registry show ${name}. Choose one with --way.`,
    });
  }
  const problems = [
    ...launch.missing.map((key) => ({ path: key, message: `is needed: --input ${key}=…` })),
    ...launch.problems.map((problem) => ({ path: 'input', message: problem })),
  ];
  if (problems.length === 0) return launch;
  const lines = problems.map(({ path, message }) => (path === 'input' ? message : `${path} ${message}`));
  throw new ToolscoutError('INVALID_REQUEST', `${name} cannot be added yet: ${lines.join('; ')}.`, { problems });
}

function addAdd(registry: Command, deps: CliDeps): void {
  withCommonFlags(registry.command('add <name>'))
    .description('Shows the exact command of a server of the registry, asks, and writes it to the config file.')
    .option('--input <key=value>', 'a value that the server asks for; repeatable', collect, [])
    .option('--id <id>', 'the id of the server in the config')
    .option('--way <way>', 'npm, pypi, oci, nuget, streamable-http or sse; by default the first that works')
    .option('-y, --yes', 'do not ask')
    .addHelpText(
      'after',
      "\nA secret is never written: give --input KEY='${VARIABLE}', or set the variable that is named." +
        '\n\nExample:\n  $ toolscout registry add io.github.user/weather --input units=metric --id weather',
    )
    .action(async (name: string, flags: AddFlags) => {
      const answers = readAnswers(flags.input);
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const plan = await gateway.registry.plan(name, { id: flags.id, way: flags.way, answers });
        const launch = launchOf(plan);
        const { entry, shown, variables } = launch;
        terminal.note(printable(`${plan.candidate.name} ${plan.candidate.version} as "${plan.id}":`));
        terminal.note(showLaunch(terminal, { ...launch, inputs: [] }));
        if (variables.length > 0) terminal.note(`  reads from your environment: ${variables.join(', ')}`);
        if (entry.command !== undefined) terminal.note('  It runs with your rights. Add it only if you trust it.');
        const agreed = flags.yes === true ? true : await deps.confirm('Write it to the config?');
        if (agreed !== true) {
          const isUnasked = agreed === undefined;
          const why = isUnasked ? 'there is no terminal to ask on' : 'you declined';
          throw new ToolscoutError('APPROVAL_REQUIRED', `"${plan.id}" was not added: ${why}.`, {
            remedy: isUnasked
              ? { kind: 'advice', text: 'Read what it runs, then repeat the command with --yes.' }
              : { kind: 'none' },
          });
        }
        const { path } = await gateway.servers.add(plan.id, entry);
        if (flags.json) terminal.json({ id: plan.id, path, entry, shown, variables });
        else terminal.out(printable(`Added "${plan.id}" to ${path}. Try: toolscout discover ${shellWord(plan.id)}`));
      });
    });
}

function addIntrospect(registry: Command, deps: CliDeps): void {
  withCommonFlags(registry.command('introspect <target>'))
    .description(
      'Asks an https URL, or a registered server that is not approved, for its tools. Calls no tool. Creates an approval request and writes RTFS files to review.',
    )
    .option('--id <id>', 'the id of the server, for a URL')
    .addHelpText('after', '\nExample:\n  $ toolscout registry introspect https://mcp.example.com/mcp')
    .action(async (target: string, flags: CommonFlags & { id?: string }) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const wanted =
          URL.canParse(target) && target.includes('://') ? { url: target, id: flags.id } : { server: target };
        const found = await gateway.servers.introspect(wanted, { by: 'local' });
        if (flags.json) return terminal.json(found);
        const { approval, tools, dropped, review, problem } = found;
        const more = dropped > 0 ? `, ${dropped} malformed dropped` : '';
        terminal.out(`${terminal.paint.bold(printable(approval.ref))}: ${counted(tools.length, 'tool')}${more}`);
        for (const name of tools) terminal.out(`  ${printable(name)}`);
        terminal.out(`${approval.state}, risk ${approval.risk.level}: ${printable(approval.risk.reasons.join('; '))}`);
        if (review) terminal.out(`Review: ${printable(review.directory)}`);
        if (problem !== undefined) terminal.note(printable(`No files to review: ${problem}`));
        const ref = shellWord(approval.ref);
        terminal.note(printable(`Then decide: toolscout approve ${ref}   toolscout reject ${ref}`));
      });
    });
}

function addRemove(registry: Command, deps: CliDeps): void {
  withCommonFlags(registry.command('remove <id>'))
    .description(
      'Removes a registered server, its exported files and the trust in it. Servers of the config are not touched.',
    )
    .addHelpText('after', '\nExample:\n  $ toolscout registry remove mcp-example-com')
    .action(async (id: string, flags: CommonFlags) => {
      await withGateway(deps, flags, async (gateway) => {
        await gateway.servers.unregister(id, { by: 'local' });
        if (flags.json) deps.terminal.json({ server: id, removed: true });
        else deps.terminal.out(printable(`Removed "${id}".`));
      });
    });
}

/** `toolscout registry`: find servers that are not configured yet. */
export function addRegistry(program: Command, deps: CliDeps): void {
  const registry = program
    .command('registry')
    .summary('find servers that are not configured yet')
    .description('Searches the registry for servers, shows how they would be launched, and adds them to the config.')
    .addHelpText('after', '\nExamples:\n  $ toolscout registry search github\n  $ toolscout registry add NAME');
  addSearch(registry, deps);
  addShow(registry, deps);
  addAdd(registry, deps);
  addIntrospect(registry, deps);
  addRemove(registry, deps);
}
