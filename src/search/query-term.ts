/** A term to look for, what it counts, and the word of the query it stands for. */
export interface QueryTerm {
  readonly id: number;
  readonly weight: number;
  readonly word: string;
  /** Whether the query writes it as a name. */
  readonly proper?: boolean;
  /** The clauses of the query it stands in, as bits. */
  readonly clauses?: number;
}
