import { cooperatively, inSlices } from '../../kernel/async/cooperative.js';
import type { Tool } from '../../model/tool.js';
import type { Analyzer } from '../text/analysis.js';
import { createDraft } from './draft.js';
import { actionOf, conceptTermsOf, serverTermsOf, termsOf } from './fields.js';
import { sortedByName } from './names.js';
import type { Postings, Segment } from './postings.js';
import type { VectorSignal } from '../rank/meaning.js';
import type { Actions } from '../words/actions.js';
import type { Lexicon } from '../words/lexicon.js';

/** What a server calls itself: its id was chosen by a user and may hide the product. */
export interface Evidence {
  readonly title?: string;
  readonly name?: string;
  /** The package, image or host it is started or reached by. */
  readonly launch?: string;
}

/** What is known about words beside the tools; neither is there without its file. */
export interface Words {
  readonly lexicon: Lexicon | undefined;
  readonly meaning: VectorSignal | undefined;
}

/** The segments of the index by server: tools are added, replaced and removed here. */
export interface SegmentTable {
  /** The segment of each server that was put in. */
  readonly segments: ReadonlyMap<string, Segment>;
  replace(server: string, tools: readonly Tool[], evidence?: Evidence): void;
  fill(server: string, tools: Iterable<Tool>, evidence?: Evidence): Promise<boolean>;
  restate(server: string, change: (tool: Tool) => Tool): void;
  remove(server: string): void;
}

/** Postings' worth of clearing out between two turns of others: about a millisecond. */
const CLEARED_AT_ONCE = 20_000;

/**
 * What is put in pays for clearing out what it took the place of, four postings for each of its own: so much that
 * replacing for ever holds no more than a bounded share of removed tools, even when no turn is ever left for clearing.
 */
const CLEARED_FOR_ONE = 4;

/** An empty table. The knowledge about words is loaded with the first tools. */
export function createSegmentTable(
  postings: Postings,
  analyzer: Analyzer,
  actions: Actions,
  words: () => Words,
): SegmentTable {
  const segments = new Map<string, Segment>();
  const filling = new Map<string, symbol>();
  let isClearing = false;

  /** Reads a server's tools in the order of their names; `put` then puts them all in the place of those it had. */
  function beginReading(
    server: string,
    { title = '', name = '', launch = '' }: Evidence = {},
  ): { read(tool: Tool): void; put(): void } {
    const { lexicon, meaning } = words();
    const serverTerms = serverTermsOf([server, title, name, launch], analyzer);
    const draft = createDraft();
    return {
      read(tool) {
        const terms = termsOf(tool, serverTerms, analyzer);
        const concepts = lexicon ? [conceptTermsOf(terms, lexicon)] : [];
        draft.add(tool, [...terms, ...concepts], actionOf(terms, actions), meaning?.embed(terms));
      },
      put() {
        filling.delete(server);
        const former = segments.get(server);
        // In this order, so that words both have keep their numbers.
        const segment = postings.add(draft);
        segments.set(server, segment);
        if (former) postings.remove(former);
        const held = segment.uses.reduce((sum, uses) => sum + uses, 0);
        clear(Math.min(CLEARED_FOR_ONE * held, CLEARED_AT_ONCE));
      },
    };
  }

  function replace(server: string, tools: readonly Tool[], evidence?: Evidence): void {
    const reading = beginReading(server, evidence);
    for (const tool of sortedByName(tools)) reading.read(tool);
    reading.put();
  }

  async function fill(server: string, tools: Iterable<Tool>, evidence?: Evidence): Promise<boolean> {
    const turn = Symbol(server);
    filling.set(server, turn);
    const all: Tool[] = [];
    await cooperatively(tools, (tool) => all.push(tool));
    const reading = beginReading(server, evidence);
    await cooperatively(sortedByName(all), (tool) => reading.read(tool));
    if (filling.get(server) !== turn) return false;
    reading.put();
    return true;
  }

  function restate(server: string, change: (tool: Tool) => Tool): void {
    filling.delete(server);
    const segment = segments.get(server);
    if (segment) segment.tools = segment.tools.map(change);
  }

  function remove(server: string): void {
    // What is still being read for the server is older than this.
    filling.delete(server);
    const segment = segments.get(server);
    if (!segment) return;
    segments.delete(server);
    postings.remove(segment);
    clear(0);
  }

  /** Clears out some of what was removed now, and the rest between the turns of others. */
  function clear(work: number): void {
    if (!postings.clear(work) || isClearing) return;
    isClearing = true;
    void inSlices(() => {
      isClearing = postings.clear(CLEARED_AT_ONCE);
      return isClearing;
    });
  }

  return {
    segments,
    replace,
    fill,
    restate,
    remove,
  };
}
