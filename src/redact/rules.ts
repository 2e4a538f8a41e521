import {
  compileFieldGlob,
  createFieldMatcher,
  type FieldGlob,
  type FieldMatcher,
} from '../kernel/patterns/field-glob.js';
import { compilePattern, type Pattern } from '../kernel/patterns/pattern.js';
import type { LinearRegex } from '../kernel/patterns/regex.js';
import { compileValuePattern, isValuePattern } from '../kernel/patterns/value-pattern.js';
import type { RedactionConfig } from '../model/config.js';
import type { TextRule } from './text.js';

/** What is done with a field. */
export type Action = RedactionConfig['action'];

/** Where a rule holds. */
export type Where = 'logs' | 'arguments' | 'results';

/** One rule of the configuration, compiled. */
export interface Rule {
  readonly action: Action;
  readonly where: ReadonlySet<Where>;
  readonly servers: readonly Pattern[] | undefined;
  readonly fields: readonly FieldGlob[];
  readonly values: readonly LinearRegex[];
}

/** The rules that hold in one place, joined. */
export interface Matchers {
  readonly fields: FieldMatcher<Action>;
  readonly texts: readonly TextRule[];
}

/** Compiles the rules of a configuration, once. */
export function compileRules(rules: readonly RedactionConfig[]): Rule[] {
  return rules.map(({ match, action, where, servers }) => {
    const entries = [match].flat();
    return {
      action,
      where: new Set([where].flat()),
      servers: servers?.map((text) => compilePattern(text)),
      fields: entries.filter((text) => !isValuePattern(text)).map((text) => compileFieldGlob(text)),
      values: entries.filter(isValuePattern).map((text) => compileValuePattern(text)),
    };
  });
}

/** Whether a rule is about a server; one that names servers is about no others, and about nothing else. */
export function isAbout(rule: Rule, server: string | undefined): boolean {
  if (!rule.servers) return true;
  if (server === undefined) return false;
  const negative = rule.servers.filter((pattern) => pattern.negated);
  const positive = rule.servers.filter((pattern) => !pattern.negated);
  if (negative.some((pattern) => pattern.matches(server))) return false;
  return positive.length === 0 || positive.some((pattern) => pattern.matches(server));
}

/** Joins rules; the first that matches a field decides about it, and what is masked in any case comes last. */
export function joinRules(rules: readonly Rule[], masked: readonly FieldGlob[] = []): Matchers {
  const globs = rules.flatMap(({ fields, action }) => fields.map((glob) => [glob, action] as const));
  const texts = rules.flatMap(({ values, action }) =>
    values.map((value): TextRule => ({ action, spans: (text) => value.spans(text) })),
  );
  return { fields: createFieldMatcher<Action>([...globs, ...masked.map((glob) => [glob, 'mask'] as const)]), texts };
}
