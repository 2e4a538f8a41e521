import type { RecordedServer } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { createRandom } from '../../src/search/bootstrap.js';

/** The share of words that are exchanged for others of the corpus. */
const EXCHANGED = 0.35;

/** The share of words never seen before, in the first server; it falls with the root of the number of servers (Heaps' law). */
const COINED = 0.2;

/** Tools of one server at most; a template beyond it is cut. */
const SERVER_SIZE = 60;

/** A made-up server with its tools, as it would list them. */
export interface GrownServer {
  readonly server: string;
  readonly definitions: readonly JsonObject[];
}

/** Makes servers out of real ones without end, the same in every run. */
export interface Grower {
  grow(id: number): GrownServer;
  /** A text of common words of the corpus, of this many characters. */
  commonText(length: number): string;
  /** A text of unknown words that look like known ones. */
  mistypedText(length: number): string;
}

/**
 * Every grown tool follows a real one: its words are exchanged for words drawn as often as the
 * corpus uses them, and some are coined from halves of two words, so that the vocabulary keeps
 * growing with the catalog. Schemas are shared with the template.
 */
export function createGrower(corpus: readonly RecordedServer[]): Grower {
  const templates = corpus.filter(({ tools }) => tools.length > 0);
  const words = templates.flatMap(({ tools }) =>
    tools.flatMap(({ definition }) => wordsOf(`${nameOf(definition)} ${descriptionOf(definition)}`)),
  );

  const drawer = (random: () => number, coined = 0): { draw(): string; vary(word: string): string } => {
    const draw = (): string => words[Math.floor(random() * words.length)] ?? 'tool';
    const coin = (): string => {
      const [head, tail] = [draw(), draw()];
      return head.slice(0, Math.ceil(head.length / 2)) + tail.slice(Math.floor(tail.length / 2));
    };
    const vary = (word: string): string => {
      const chance = random();
      if (chance < coined) return coin();
      return chance < EXCHANGED ? draw() : word;
    };
    return { draw, vary };
  };

  const fill = (length: number, next: () => string): string => {
    const parts: string[] = [];
    for (let used = 0; used < length; used += (parts.at(-1) ?? '').length + 1) parts.push(next());
    return parts.join(' ').slice(0, length);
  };

  return {
    grow(id) {
      const random = createRandom(id * 2 + 1);
      const { draw, vary } = drawer(random, COINED / Math.sqrt(id));
      const template = templates[Math.floor(random() * templates.length)]!;
      const server = `${draw()}-${draw()}-${id}`.toLowerCase();
      const names = new Set<string>();
      const definitions = template.tools.slice(0, SERVER_SIZE).map(({ definition }) => {
        const base = wordsOf(nameOf(definition)).map((word) => vary(word).toLowerCase());
        while (names.has(base.join('_')) || base.length === 0) base.push(draw().toLowerCase());
        const name = base.join('_');
        names.add(name);
        const description = descriptionOf(definition).replace(/\p{L}{2,}/gu, vary);
        return { ...definition, name, description };
      });
      return { server, definitions };
    },
    commonText: (length) => fill(length, drawer(createRandom(length)).draw),
    mistypedText: (length) => {
      const { draw } = drawer(createRandom(length + 1));
      return fill(length, () => draw().replace(/^(.{2})(.)(.)/, '$1$3$2q'));
    },
  };
}

function nameOf(definition: JsonObject): string {
  return typeof definition['name'] === 'string' ? definition['name'] : '';
}

function descriptionOf(definition: JsonObject): string {
  return typeof definition['description'] === 'string' ? definition['description'] : '';
}

function wordsOf(text: string): string[] {
  return text.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').match(/\p{L}{2,}/gu) ?? [];
}
