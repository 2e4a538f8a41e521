import { Option, type Command } from 'commander';
import { STATS_GROUPS, type Stats, type StatsGroup, type Usage } from '../../../model/stats.js';
import { timeAgo, wholeNumber } from '../arguments.js';
import { withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { table } from '../render.js';

interface Flags extends CommonFlags {
  readonly by: StatsGroup;
  readonly since?: number;
  readonly limit: number;
}

const HEADS = ['CALLS', 'FAILED', 'SEARCHES', 'MENUS', 'TOKENS SENT', 'RETURNED', 'WITHHELD'];

const grouped = (value: number): string => value.toLocaleString('en-US');

function cells({ calls, failed, searches, menus, tokens }: Usage): string[] {
  return [calls, failed, searches, menus, tokens.arguments, tokens.returned, tokens.withheld].map(grouped);
}

/** The sentence at the end: what all of it cost, and what every tool would have. */
export function describeSaving({ total, menu, saved }: Stats, isSince = false): string {
  const { tools, everyTool, given } = menu;
  const all = `All ${grouped(tools)} tools would cost ${grouped(everyTool)} tokens each time a host loads them`;
  const when = isSince ? 'since then' : 'yet';
  if (total.menus === 0)
    return tools === 0 ? `No host has connected ${when}.` : `${all}; no host has connected ${when}.`;
  const { withheld } = total.tokens;
  const kept = withheld === 0 ? '' : ` ${grouped(withheld)} of them are results that were kept back.`;
  const menus = total.menus === 1 ? 'the menu that was loaded' : `the ${grouped(total.menus)} menus that were loaded`;
  return `${all}; ${menus} cost ${grouped(given)}. Saved: about ${grouped(saved)} tokens.${kept}`;
}

/** `toolscout stats`: what was used, in tokens. */
export function addStats(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('stats'))
    .summary('show how many tokens agents used')
    .description(
      'Adds up the audit log: calls, searches and menus, the tokens that agents sent and received, and the tokens saved. ' +
        'What people do in Studio, on the command line and over the HTTP API counts as well. Tokens are estimated. Starts no server.',
    )
    .addOption(new Option('--by <group>', 'group the rows by this').choices([...STATS_GROUPS]).default('day'))
    .option(
      '--since <time>',
      'only records since then: 90m, 24h, 7d or 2w ago, or a date',
      timeAgo(() => deps.clock.now()),
    )
    .option('-n, --limit <count>', 'maximum number of rows', wholeNumber, 20)
    .addHelpText('after', '\nExamples:\n  $ toolscout stats --since 7d\n  $ toolscout stats --by tool --limit 5 --json')
    .action(async ({ by, since, limit, ...flags }: Flags) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const stats = await gateway.audit.stats({ by, since, limit });
        if (flags.json) return terminal.json(stats);
        if (stats.rows.length === 0) {
          terminal.note(since === undefined ? 'Nothing is recorded yet.' : 'Nothing is recorded since then.');
          return terminal.note(describeSaving(stats, since !== undefined));
        }
        const rows = stats.rows.map(({ key, ...usage }) => [key === '' ? '(toolscout itself)' : key, ...cells(usage)]);
        terminal.out(table(terminal, [by.toUpperCase(), ...HEADS], [...rows, ['total', ...cells(stats.total)]]));
        if (stats.more > 0) terminal.note(`${stats.more} more rows: --limit ${stats.rows.length + stats.more}`);
        terminal.note(describeSaving(stats, since !== undefined));
      });
    });
}
