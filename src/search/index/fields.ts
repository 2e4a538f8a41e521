import type { Tool } from '../../model/tool.js';
import type { Analyzer } from '../text/analysis.js';
import type { Action, Actions } from '../words/actions.js';
import { conceptTerm, type Lexicon } from '../words/lexicon.js';

/** How much one part of a tool counts, and how strongly a long one is held against it (BM25's b). */
interface Field {
  readonly name: string;
  readonly weight: number;
  readonly b: number;
  /** Most tools have nothing here: long is what is longer than others that have something. */
  readonly sparse?: boolean;
}

/** The parts of a tool that are searched; {@link termsOf} gives their terms in this order. */
export const FIELDS: readonly Field[] = [
  { name: 'name', weight: 3, b: 0.3 },
  { name: 'server', weight: 1.5, b: 0.3 },
  { name: 'description', weight: 1, b: 0.75 },
  { name: 'parameters', weight: 0.9, b: 0.75 },
  { name: 'parameter descriptions', weight: 0.55, b: 0.75 },
  { name: 'tags and rest of the description', weight: 1, b: 0.75, sparse: true },
  { name: 'ways of asking', weight: 1, b: 0, sparse: true },
];

/** The position of the name in {@link FIELDS}. */
export const NAME_FIELD = 0;

/** The position of the server's names in {@link FIELDS}. */
export const SERVER_FIELD = 1;

/** The position of the beginning of the description in {@link FIELDS}. */
export const DESCRIPTION_FIELD = 2;

/** The position of the concepts of the lexicon in {@link FIELDS}. */
export const CONCEPT_FIELD = 6;

/** First words of a description that say what a tool is about. */
const FIRST_WORDS = 12;

/** What a description is for stands in its beginning. */
const DESCRIPTION_LENGTH = 600;

/** Up to here the rest is read too, for the words that stand nowhere before it; then come examples and warnings. */
const REST_END = 1200;

/** Bounds what one tool may add to the index: characters of a name, of all tags, of all parameters, values of one. */
const NAME_LENGTH = 256;
const TAGS_LENGTH = 256;
const PARAMETERS_LENGTH = 4000;
const MAX_VALUES = 100;

/** The searched terms of a tool, one list for each field but the concepts; `server` holds those of its server. */
export function termsOf(tool: Tool, server: readonly string[], analyzer: Analyzer): ReadonlyArray<readonly string[]> {
  const names: string[] = [];
  const explanations: string[] = [];
  let room = PARAMETERS_LENGTH;
  for (const { name, description, values } of tool.parameters) {
    if (room <= 0) break;
    const explanation = [description, ...(values ?? []).slice(0, MAX_VALUES)].join(' ').slice(0, room);
    names.push(name.slice(0, NAME_LENGTH));
    explanations.push(explanation);
    room -= name.length + explanation.length + 1;
  }
  const fields = [
    analyzer.nameTerms(`${tool.name.slice(0, NAME_LENGTH)} ${(tool.title ?? '').slice(0, NAME_LENGTH)}`),
    server,
    analyzer.terms(tool.description.slice(0, DESCRIPTION_LENGTH)),
    analyzer.nameTerms(names.join(' ')),
    analyzer.terms(explanations.join(' ')),
  ];
  const rest = newTerms(tool.description.slice(DESCRIPTION_LENGTH, REST_END), fields, analyzer);
  return [...fields, tool.tags.length === 0 ? rest : [...new Set([...tagTerms(tool, analyzer), ...rest])]];
}

/** The words of the tags that rules and the server give a tool (FIND-7). */
function tagTerms({ tags }: Tool, analyzer: Analyzer): string[] {
  return analyzer.nameTerms(tags.join(' ').slice(0, TAGS_LENGTH));
}

/** The terms of a text, each once, that neither the names nor the beginning of the description hold. */
function newTerms(text: string, fields: ReadonlyArray<readonly string[]>, analyzer: Analyzer): string[] {
  if (text === '') return [];
  const held = new Set(fields.slice(0, DESCRIPTION_FIELD + 1).flat());
  return [...new Set(analyzer.terms(text))].filter((term) => !held.has(term));
}

/** The terms of a server, each once: what it is called by its user and by itself. */
export function serverTermsOf(names: readonly string[], analyzer: Analyzer): string[] {
  return [...new Set(names.flatMap((name) => analyzer.terms(name.slice(0, NAME_LENGTH))))];
}

/** The concepts of a tool as terms: twice where its names show it, once where only its description does. */
export function conceptTermsOf(fields: ReadonlyArray<readonly string[]>, lexicon: Lexicon): string[] {
  const names = [...fields[NAME_FIELD]!, ...fields[SERVER_FIELD]!];
  const { named, described } = lexicon.conceptsOf(names, fields[DESCRIPTION_FIELD]!.slice(0, FIRST_WORDS));
  return [...named, ...named, ...described].map(conceptTerm);
}

/** What a tool does: by the first word of its name that says it, else by the beginning of its description. */
export function actionOf(fields: ReadonlyArray<readonly string[]>, actions: Actions): Action {
  const words = [...fields[NAME_FIELD]!, ...fields[DESCRIPTION_FIELD]!.slice(0, 3)];
  return words.map((word) => actions.byTerm.get(word)).find((action) => action !== undefined) ?? 0;
}
