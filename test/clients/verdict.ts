import type { Observed } from './cell.js';
import type { Call, Expected } from './catalogue.js';
import type { Mode } from './client.js';
import type { Json } from './model/dialect.js';

/** What the model or the caller of a library gets to see. */
export interface Saw {
  /** What the host puts before our names; for a group of tools its name and a dot. */
  readonly prefix: string;
  readonly instructions: boolean;
  /** Our tools are not part of the first model request; agents only. */
  readonly deferred?: boolean;
  readonly longestName: number;
  /** What became of a root `oneOf`; `closed` has no property and allows no other, so that no argument is valid. */
  readonly rootOneOf?: 'kept' | 'closed' | 'flattened' | 'not seen';
}

/** Some hosts put another letter for "-". */
const plain = (name: string): string => name.replaceAll('-', '_');

const endsWith = (shown: string, name: string): boolean => plain(shown).endsWith(plain(name));

function missing(expected: readonly string[], shown: readonly string[]): string[] {
  return expected.filter((name) => !shown.some((each) => endsWith(each, name)));
}

function named(what: string, names: readonly string[]): string[] {
  return names.length === 0 ? [] : [`${what} missing: ${names.join(', ')}`];
}

/** Everything that is wrong with a cell; empty when it passes. */
export function problemsOf(observed: Observed, expected: Expected, calls: readonly Call[]): string[] {
  const { tools, answers, ended, leftovers, text, problem } = observed;
  const notListed = missing(
    expected.tools,
    tools.map(({ name }) => name),
  ).filter((name) => observed.first === undefined || !text.includes(name));
  const wrong = calls.flatMap(({ name, answer }, index) =>
    answers[index]?.includes(answer) === true
      ? []
      : [`${name} answered ${JSON.stringify(answers[index])?.slice(0, 200)}`],
  );
  return [
    ...(problem === undefined ? [] : [problem]),
    ...named('tools', notListed),
    ...(['resources', 'templates', 'prompts'] as const).flatMap((list) =>
      observed[list] === undefined ? [] : named(list, missing(expected[list], observed[list])),
    ),
    ...(problem === undefined ? wrong : []),
    ...(ended.timedOut ? ['it did not end by itself'] : ended.code === 0 ? [] : [`it ended with code ${ended.code}`]),
    ...leftovers.map((each) => `left running: ${each}`),
  ];
}

function rootOneOf(tools: Observed['tools']): Saw['rootOneOf'] {
  const tool = tools.find(({ name }) => endsWith(name, 'odd__root_one_of'));
  if (!tool) return 'not seen';
  const { oneOf, additionalProperties, properties = {} } = (tool.schema ?? {}) as Json;
  if (oneOf === undefined) return 'flattened';
  return additionalProperties === false && Object.keys(properties).length === 0 ? 'closed' : 'kept';
}

/** What was seen of toolscout. */
export function sawOf(observed: Observed, mode: Mode, instructions: string): Saw {
  const { tools, first, text } = observed;
  const wanted = mode === 'meta' ? 'search_tools' : 'healthy__echo';
  const tool = tools.find(({ name }) => endsWith(name, wanted));
  // A deferred tool may never be offered; its whole name stands in the prompt then.
  const prefixes = [...text.matchAll(new RegExp(`([\\w./-]*)${wanted}\\b`, 'g'))].map(([, prefix]) => prefix ?? '');
  const hidden = prefixes.sort((a, b) => b.length - a.length)[0];
  const group = tool?.group === undefined ? '' : `${tool.group}.`;
  const own = tools.filter(({ name }) => name.includes('odd__') || endsWith(name, wanted));
  const sentence = instructions.split('. ')[0] ?? instructions;
  return {
    prefix: tool ? `${group}${tool.name.slice(0, -wanted.length)}` : (hidden ?? '?'),
    instructions: text.includes(sentence),
    ...(first !== undefined && { deferred: !first.some((name) => endsWith(name, wanted)) }),
    longestName: Math.max(0, ...own.map(({ name }) => name.length)),
    ...(mode === 'passthrough' && { rootOneOf: rootOneOf(tools) }),
  };
}
