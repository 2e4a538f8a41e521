import type { Analyzer } from '../text/analysis.js';
import { SERVER_FIELD } from '../index/fields.js';
import { frequencyIn, POSTING_WORDS } from '../index/posting-lists.js';
import type { Postings, Segment } from '../index/postings.js';
import type { QueryTerm } from '../query-term.js';

/** A word with a capital that does not begin a sentence. */
const PROPER_NAME = /(?<=[\p{L}\p{N},;:)'"“„«(-]\s*["'“„«(]?)(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}]+/gu;

/** Occurrences that a term must outweigh before it is believed to name a server. */
const DOUBT = 3;

/** Postings that are read for the names in one query; a word that stands everywhere is not the name of a server. */
const MOST_READ = 50_000;

/** The terms of what a query writes as a name. */
export function properTerms(text: string, analyzer: Analyzer): ReadonlySet<string> {
  return new Set((text.match(PROPER_NAME) ?? []).flatMap((name) => analyzer.terms(name)));
}

/**
 * How surely the query names each server, in [0,1]. A term names a server when it is written as a name, stands
 * in the server's name and hardly anywhere else: `Airtable` does, `time` does not. Servers share a name's sureness.
 * `any` is the same of words in small letters too.
 */
export function findMentions(
  terms: readonly QueryTerm[],
  postings: Postings,
): { readonly written: ReadonlyMap<Segment, number>; readonly any: ReadonlyMap<Segment, number> } {
  const written = new Map<Segment, number>();
  const any = new Map<Segment, number>();
  const { arena } = postings.lists;
  let allowance = MOST_READ;
  for (const { id, proper = false } of terms.toSorted(
    (a, b) => Number(b.proper ?? false) - Number(a.proper ?? false),
  )) {
    const uses = postings.vocabulary.uses(id);
    if (uses > allowance) continue;
    allowance -= uses;
    const named = new Set<Segment>();
    let own = 0;
    for (let at = postings.lists.start(id), end = postings.lists.end(id); at < end; at += POSTING_WORDS) {
      if (frequencyIn(arena[at + 1]!, SERVER_FIELD) === 0) continue;
      const segment = postings.segmentOf(arena[at]!);
      if (!segment) continue;
      own++;
      named.add(segment);
    }
    const sureness = own / (uses + DOUBT) / Math.sqrt(Math.max(1, named.size));
    for (const segment of named) {
      any.set(segment, Math.max(any.get(segment) ?? 0, sureness));
      if (proper) written.set(segment, Math.max(written.get(segment) ?? 0, sureness));
    }
  }
  return { written, any };
}
