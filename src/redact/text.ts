import { MASK } from '../kernel/secrets.js';
import type { RedactionConfig } from '../model/config.js';
import { findMarks, hashMark } from './hash-marks.js';

type Span = readonly [start: number, end: number];

/** What is done with what a pattern finds in a text. */
export interface TextRule {
  readonly action: RedactionConfig['action'];
  spans(text: string): Span[];
}

/** A text without what must not be in it; `undefined` when the whole value goes. */
export type RedactText = (text: string) => string | undefined;

/** A pattern may match what a replacement has joined; after so many rounds the text goes whole. */
const MAX_ROUNDS = 8;

/** A span together with the marks it touches; nothing when it lies within marks, which hold no secret. */
function widen([start, end]: Span, marks: readonly Span[]): Span | undefined {
  let [from, to] = [start, end];
  let covered = 0;
  for (const [a, b] of marks) {
    if (b <= start || a >= end) continue;
    covered += Math.min(b, end) - Math.max(a, start);
    from = Math.min(from, a);
    to = Math.max(to, b);
  }
  return covered === end - start ? undefined : [from, to];
}

function replaceSpans(text: string, { action, spans }: TextRule): string | undefined {
  const found = spans(text);
  if (found.length === 0) return text;
  const marks = findMarks(text);
  let shown = '';
  let at = 0;
  for (const span of found) {
    const wide = widen(span, marks);
    if (!wide || wide[1] <= at) continue;
    if (action === 'drop') return undefined;
    const start = Math.max(at, wide[0]);
    shown += text.slice(at, start) + (action === 'hash' ? hashMark(text.slice(start, wide[1])) : MASK);
    at = wide[1];
  }
  return shown + text.slice(at);
}

/**
 * Applies every rule until none finds anything more: what comes out is left alone by a second pass. `last` is done at
 * the end of every round.
 */
export function createTextRedactor(rules: readonly TextRule[], last: (text: string) => string): RedactText {
  const round = (text: string): string | undefined => {
    let shown: string | undefined = text;
    for (const rule of rules) {
      shown = replaceSpans(shown, rule);
      if (shown === undefined) return undefined;
    }
    return last(shown);
  };
  return (text) => {
    let shown = text;
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
      const next = round(shown);
      if (next === undefined || next === shown) return next;
      shown = next;
    }
    return MASK;
  };
}
