import type { Command } from 'commander';
import type { Gateway } from '../../../gateway/index.js';
import { describeRemedy, shellWord } from '../../../kernel/remedy.js';
import { printable } from '../../../kernel/text.js';
import { DEFAULT_HITS, type Hit } from '../../../model/hit.js';
import { collect, wholeNumber } from '../arguments.js';
import { Exit, withCommonFlags, withGateway, type CliDeps, type CommonFlags } from '../context.js';
import { NO_SERVER } from '../note-left-out.js';
import { table } from '../render.js';
import { noteWaiting } from '../note-waiting.js';

interface Flags extends CommonFlags {
  readonly server?: string;
  readonly limit: number;
  readonly tag?: string[];
  readonly schema?: boolean;
  readonly schemaTokens?: number;
  readonly includeDisabled?: boolean;
  readonly explain?: boolean;
}

/** `toolscout search`: find tools by intent. */
export function addSearch(program: Command, deps: CliDeps): void {
  withCommonFlags(program.command('search'))
    .summary('find tools for a need in plain words')
    .description('Finds tools for a need in plain words, over all servers. An empty query lists by name.')
    .argument('<query...>', 'what you want to do')
    .option('-s, --server <id>', 'only this server')
    .option('-n, --limit <count>', 'maximum number of tools', wholeNumber, DEFAULT_HITS)
    .option('-t, --tag <tag>', 'only tools with this tag; repeatable', collect)
    .option('--schema', 'show the signature of each tool')
    .option('--schema-tokens <count>', 'maximum number of tokens of all signatures together', wholeNumber)
    .option('--include-disabled', 'also tools that a rule disables')
    .option('--explain', 'show the words and signals behind the rank of each tool')
    .addHelpText('after', '\nExample:\n  $ toolscout search "read a text file" --limit 3')
    .action(async (words: string[], flags: Flags) => {
      await withGateway(deps, flags, async (gateway) => {
        const { terminal } = deps;
        const answer = await gateway.search(words.join(' '), {
          server: flags.server,
          limit: flags.limit,
          tags: flags.tag,
          includeSchema: flags.schema ?? flags.schemaTokens !== undefined,
          schemaTokens: flags.schemaTokens,
          includeDisabled: flags.includeDisabled,
          explain: flags.explain,
          route: 'cli',
          onLearning: ({ message }) => terminal.status(message ?? ''),
        });
        terminal.status('');
        if (flags.json) terminal.json(answer);
        else if (answer.hits.length > 0) {
          const needs = [...new Set(answer.hits.map((hit) => hit.need))];
          for (const need of needs) {
            const hits = answer.hits.filter((hit) => hit.need === need);
            const rows = hits.map((hit) => [
              hit.relevance.toFixed(2),
              `${hit.server}:${hit.tool}`,
              hit.signature ?? hit.summary,
            ]);
            if (need !== undefined) terminal.out(terminal.paint.bold(printable(need)));
            terminal.out(
              table(terminal, ['', 'TOOL', (flags.schema ?? flags.schemaTokens) ? 'CALL' : 'SUMMARY'], rows),
            );
          }
          for (const line of flags.explain ? answer.hits.flatMap(explained) : []) terminal.out(printable(line));
        } else {
          const hasServers = gateway.internal.loaded().servers.length > 0;
          terminal.note(hasServers ? 'No tool was found.' : NO_SERVER);
          for (const tag of await unknownTags(gateway, flags))
            terminal.note(printable(`No tool has the tag "${tag}".`));
          if (answer.nearest.length > 0) terminal.note(printable(`Nearest names: ${answer.nearest.join(', ')}`));
          else if (hasServers && answer.learning.length === 0) terminal.note(describeRemedy({ kind: 'search-again' }));
          await noteWaiting(gateway, terminal, flags.server === undefined ? undefined : [flags.server]);
        }
        if (!flags.json) {
          if (answer.learning.length > 0) {
            const slow = answer.learning.map(shellWord).join(' ');
            terminal.note(
              `Not searched, their tools are still being read: ${answer.learning.join(', ')}. Read them now: toolscout discover ${slow}`,
            );
          }
          for (const { server, reason } of answer.unavailable) {
            terminal.note(terminal.paint.yellow(`Not included: ${server}: ${printable(reason)}`));
          }
          if (answer.unavailable.length > 0) terminal.note('Check these servers with: toolscout doctor');
        }
        if (answer.hits.length === 0) throw new Exit(2);
      });
    });
}

/** Those of the tags that no offered tool has, whatever is searched for. */
async function unknownTags(gateway: Gateway, { tag: tags = [], includeDisabled }: Flags): Promise<string[]> {
  if (tags.length === 0 || includeDisabled) return [];
  const known = new Set((await gateway.tools.offered()).flatMap((tool) => tool.tags));
  return tags.filter((tag) => !known.has(tag));
}

/** Why a hit stands where it stands, in two lines. */
function explained({ server, tool, relevance, explanation }: Hit): string[] {
  const signals = (explanation?.signals ?? []).map(({ name, share }) => `${name} ${share.toFixed(3)}`);
  const terms = (explanation?.terms ?? []).map(({ word, term, fields, share }) => {
    const met = word === term ? word : `${word} → ${term}`;
    return `${met} ${Math.round(share * 100)}% (${fields.join(', ')})`;
  });
  return [
    `${server}:${tool}  ${relevance.toFixed(3)} = ${signals.join(' + ') || 'listed by name'}`,
    `  ${terms.join(' · ')}`,
  ];
}
