/** What a tool does, or a query wants done: the number of a class, from 1; 0 where no word says it. */
export type Action = number;

/** Classes of actions: whether they read or write, and the words that tools and people use. */
const CLASSES: ReadonlyArray<readonly [kind: 'reads' | 'writes' | 'neither', words: string]> = [
  ['reads', 'get fetch retrieve read obtain load show display view describe inspect see look open'],
  ['reads', 'list enumerate browse all'],
  ['reads', 'search find query lookup locate discover'],
  ['writes', 'create add new make insert generate build draft register'],
  ['writes', 'write save store persist put'],
  ['writes', 'update edit modify change alter patch set revise adjust rename configure'],
  ['writes', 'delete remove erase drop destroy clear wipe purge discard uninstall'],
  ['writes', 'send deliver dispatch submit publish notify reply forward post'],
  ['neither', 'run execute invoke launch start trigger perform call'],
  ['writes', 'stop cancel abort terminate kill halt end pause'],
  ['writes', 'move relocate transfer copy duplicate clone replicate'],
  ['writes', 'upload attach import ingest push'],
  ['reads', 'download export pull'],
  ['neither', 'compute calculate evaluate solve convert transform translate'],
  ['reads', 'analyze analyse examine review audit assess check verify validate test compare diff count summarize'],
  ['writes', 'enable activate allow disable deactivate block approve resolve close merge'],
  ['writes', 'schedule plan book reserve assign allocate deploy release install'],
  ['neither', 'draw plot chart visualize capture screenshot record'],
  ['reads', 'crawl scrape extract'],
  ['neither', 'navigate visit click press tap type fill scroll'],
];

/** The actions that terms stand for. */
export interface Actions {
  /** The action of each term that stands for one. */
  readonly byTerm: ReadonlyMap<string, Action>;
  /** For each action 1 when it only reads, -1 when it writes, else 0. */
  readonly kinds: readonly number[];
}

/** The classes under an analysis. */
export function createActions(termOf: (word: string) => string): Actions {
  const byTerm = new Map<string, Action>();
  for (const [i, [, words]] of CLASSES.entries()) {
    for (const word of words.split(' ')) {
      const term = termOf(word);
      if (!byTerm.has(term)) byTerm.set(term, i + 1);
    }
  }
  const worth = { reads: 1, writes: -1, neither: 0 };
  return { byTerm, kinds: [0, ...CLASSES.map(([kind]) => worth[kind])] };
}
