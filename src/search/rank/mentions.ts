import type { Analyzer } from '../text/analysis.js';
import type { Segment } from '../index/postings.js';
import type { Vocabulary } from '../index/vocabulary.js';
import type { QueryTerm } from '../query-term.js';
import type { Lookup } from './lookup.js';

/** A word with a capital that does not begin a sentence. */
const PROPER_NAME = /(?<=[\p{L}\p{N},;:)'"“„«(-]\s*["'“„«(]?)(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}]+/gu;

/** Occurrences that a term must outweigh before it is believed to name a server. */
const DOUBT = 3;

/** Postings that are read for the names in one query; a word that stands everywhere is not the name of a server. */
const MAX_READ = 50_000;

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
  lookup: Lookup,
  vocabulary: Vocabulary,
): { readonly written: ReadonlyMap<Segment, number>; readonly any: ReadonlyMap<Segment, number> } {
  const written = new Map<Segment, number>();
  const any = new Map<Segment, number>();
  let allowance = MAX_READ;
  for (const { id, proper = false } of terms.toSorted(
    (a, b) => Number(b.proper ?? false) - Number(a.proper ?? false),
  )) {
    const uses = vocabulary.uses(id);
    if (uses > allowance) continue;
    allowance -= uses;
    const { servers, own } = lookup.named(id);
    const sureness = own / (uses + DOUBT) / Math.sqrt(Math.max(1, servers.size));
    for (const segment of servers) {
      any.set(segment, Math.max(any.get(segment) ?? 0, sureness));
      if (proper) written.set(segment, Math.max(written.get(segment) ?? 0, sureness));
    }
  }
  return { written, any };
}
