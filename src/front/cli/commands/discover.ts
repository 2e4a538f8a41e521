import type { Command } from 'commander';
import type { DiscoveryOutcome, Learned, RawReport } from '../../../gateway/index.js';
import { ToolscoutError } from '../../../kernel/errors.js';
import { counted, printable } from '../../../kernel/text.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { noteLeftOut } from '../note-left-out.js';
import { progressBar } from '../render.js';
import { noteWaiting } from '../note-waiting.js';

function outcomeJson(outcome: DiscoveryOutcome): object {
  if (!outcome.ok) return { server: outcome.server, ok: false, code: outcome.error.code, error: outcome.error.message };
  const { server, tools, dropped, truncated, fallback, failure } = outcome;
  return {
    server,
    ok: true,
    tools,
    dropped,
    ...(truncated ? { truncated } : {}),
    ...(fallback ? { fallback } : {}),
    ...(failure ? { failure: { code: failure.code, error: failure.message } } : {}),
  };
}

function oneServer(ids: readonly string[]): string {
  if (ids.length === 1) return ids[0]!;
  throw new ToolscoutError('INVALID_REQUEST', '--raw needs the id of exactly one server.');
}

const SIGNS = { us: '→', stdout: '←', server: '←', stderr: '!', note: '·' } as const;

/** A discovery line by line, nothing of it able to move the cursor. */
function showRaw(report: RawReport, flags: CommonFlags, terminal: CliDeps['terminal']): void {
  const { server, lines, omitted, learned, error, read } = report;
  if (flags.json) {
    const outcome = error ? { server, ok: false as const, error } : { server, ok: true as const, ...learned! };
    terminal.json({ server, lines, omitted, outcome: outcomeJson(outcome), read });
  } else {
    for (const { atMs, from, text } of lines) {
      terminal.out(`${terminal.paint.dim(`${String(atMs).padStart(6)} ms`)} ${SIGNS[from]} ${printable(text)}`);
    }
    if (omitted !== undefined) terminal.note(`… and ${counted(omitted, 'more line')}`);
    if (error) terminal.note(printable(error.message));
    else terminal.note(`${counted(learned!.tools, 'tool')}${fallbackText(learned!)}`);
    if (read) terminal.note(printable(`Found: ${read.tools.join(', ')}`));
  }
  if (error) throw new Exit(1);
}

/** Says that the tools cannot be called, or that the server has no handshake; and why its list has a stand-in. */
function fallbackText({ fallback, failure }: Learned): string {
  if (!fallback) return '';
  const { rung, provenance, confidence } = fallback;
  const how = provenance === 'protocol' ? 'listed without a handshake' : `not callable: ${provenance}`;
  const why = failure ? `; ${printable(failure.message)}` : '';
  return ` (${how}, ${rung}, confidence ${confidence})${why}`;
}

/** `toolscout discover`: ask servers for their tools now. */
export function addDiscover(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('discover'))
    .summary('ask servers for their tools now')
    .description('Connects to the named servers (all by default), lists their tools and remembers them.')
    .argument('[server...]', 'ids of servers')
    .option('--lend-slots', 'do not wait for servers that hang: ask more than maxParallelDiscoveries at once')
    .option('--raw', 'discover one server and show every line in both directions')
    .addHelpText(
      'after',
      '\nExamples:\n  $ toolscout discover filesystem memory\n  $ toolscout discover filesystem --raw',
    )
    .action(async (ids: string[], flags: CommonFlags & { raw?: boolean; lendSlots?: boolean }) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        if (flags.raw) return showRaw(await gateway.servers.discoverRaw(oneServer(ids)), flags, terminal);
        const outcomes = await gateway.servers.discover(ids.length > 0 ? ids : undefined, {
          lendSlots: flags.lendSlots,
          onProgress: progressBar(terminal),
        });
        if (flags.json) terminal.json({ servers: outcomes.map(outcomeJson) });
        else {
          for (const outcome of outcomes) {
            if (!outcome.ok) {
              terminal.out(`${terminal.paint.red('✗')} ${outcome.server}: ${printable(outcome.error.message)}`);
              continue;
            }
            const dropped = outcome.dropped.length > 0 ? `, ${outcome.dropped.length} malformed dropped` : '';
            terminal.out(
              `${terminal.paint.green('✓')} ${outcome.server}: ${counted(outcome.tools, 'tool')}${dropped}${fallbackText(outcome)}`,
            );
            for (const { index, name, reason } of outcome.dropped) {
              const entry = [`entry ${index + 1}`, ...(name === undefined ? [] : [name])].join(' ');
              terminal.out(terminal.paint.yellow(`    ${printable(entry)}: ${printable(reason)}`));
            }
            if (outcome.truncated) terminal.out(terminal.paint.yellow(`    ${printable(outcome.truncated)}`));
          }
          await noteWaiting(gateway, terminal, ids.length > 0 ? ids : undefined);
        }
        if (ids.length === 0) await noteLeftOut(gateway, terminal);
        if (outcomes.some((outcome) => !outcome.ok)) throw new Exit(1);
      });
    });
}

/** `toolscout warm`: learn what is not known yet, so that the first search is quick. */
export function addWarm(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('warm'))
    .summary('learn every server that is not known yet')
    .description('Learns every server whose tools are not known yet, so that the first search is quick.')
    .option('--all', 'also learn servers again whose tools are known')
    .option('--lend-slots', 'do not wait for servers that hang: ask more than maxParallelDiscoveries at once')
    .addHelpText('after', '\nExample:\n  $ toolscout warm')
    .action(async (flags: CommonFlags & { all?: boolean; lendSlots?: boolean }) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const outcomes = await gateway.servers.discover(undefined, {
          onlyUnknown: !flags.all,
          lendSlots: flags.lendSlots,
          onProgress: progressBar(terminal),
        });
        const failed = outcomes.filter((outcome) => !outcome.ok);
        const report = {
          successful: outcomes.length - failed.length,
          failed: failed.length,
          cachedTools: outcomes.reduce((sum, outcome) => sum + (outcome.ok ? outcome.tools : 0), 0),
          errors: failed.map((outcome) => ({ server: outcome.server, error: outcome.error.message })),
        };
        if (flags.json) terminal.json(report);
        else {
          const learned = `${counted(report.successful, 'server')} learned, ${counted(report.cachedTools, 'tool')}`;
          terminal.out(`${learned}; ${report.failed} failed`);
          for (const { server, error } of report.errors) terminal.out(`  ${server}: ${printable(error)}`);
        }
        await noteLeftOut(gateway, terminal);
        if (failed.length > 0) throw new Exit(1);
      });
    });
}
