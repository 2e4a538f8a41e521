import type { JsonObject } from '../../kernel/json.js';
import type { Rule } from './rules.js';
import type { Piece } from './texts.js';

/** Something in a definition that speaks against it. */
export interface Sign {
  readonly reason: string;
  /** 1 is a hint, 4 is enough to hold it back, 6 whatever the wording around it. */
  readonly weight: number;
}

/** A sign by how a text is written. Patterns run in linear time: every repetition in them is bounded or stands alone. */
export interface TextPattern extends Sign {
  /** On the text in small plain letters, escapes resolved. */
  readonly pattern: RegExp;
}

/** What a check sees of a definition. */
export interface Subject {
  readonly definition: JsonObject;
  readonly pieces: readonly Piece[];
  /** All texts as they were written, one a line. */
  readonly raw: string;
  /** The same in small plain letters, escapes resolved. */
  readonly plain: string;
}

/** One question that is asked about every definition. */
export interface Check {
  readonly name: string;
  /** For people, in SARIF. */
  readonly about: string;
  readonly rules?: readonly Rule[];
  readonly patterns?: readonly TextPattern[];
  readonly find?: (subject: Subject) => Sign[];
  /** It finds shapes and not words: what stands around a sign does not change what it means. */
  readonly isShape?: boolean;
  /** Without this in a text no pattern of the check can be in it. */
  readonly needs?: RegExp;
}

/** Enough to hold something back. */
export const HARD = 4;
