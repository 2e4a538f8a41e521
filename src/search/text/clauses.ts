import type { Analyzer } from './analysis.js';

/** The clauses of a query: how many, and in which of them each term stands, as bits. */
export interface Clauses {
  readonly count: number;
  of(term: string): number;
}

/** Where one need ends and the next may begin. */
const CLAUSE_END = /[.!?;:]\s|[。！？；，\n]|,\s|\s(?:and|then|so|but)\s/;

/** Shorter clauses say too little alone and join the next one. */
const MIN_CLAUSE_TERMS = 4;

/** Bits of a clause set; what comes later joins the last clause. */
const MAX_CLAUSES = 30;

/** Cuts a query into clauses, each with enough terms to be asked alone. */
export function splitClauses(text: string, analyzer: Analyzer): Clauses {
  const clauses: string[][] = [];
  let held: string[] = [];
  for (const part of text.split(CLAUSE_END)) {
    held.push(...analyzer.terms(part));
    if (held.length < MIN_CLAUSE_TERMS || clauses.length >= MAX_CLAUSES) continue;
    clauses.push(held);
    held = [];
  }
  if (clauses.length === 0) clauses.push(held);
  else clauses.at(-1)!.push(...held);

  const bits = new Map<string, number>();
  for (const [i, terms] of clauses.entries()) {
    for (const term of terms) bits.set(term, (bits.get(term) ?? 0) | (1 << i));
  }
  return { count: clauses.length, of: (term) => bits.get(term) ?? 0 };
}
