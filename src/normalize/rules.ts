import { messageOf, ToolscoutError, type Problem } from '../kernel/errors.js';
import { compilePattern, compilePatterns, type Pattern, type PatternList } from '../kernel/pattern.js';
import { oneLine } from '../kernel/text.js';
import type { RuleConfig } from '../model/config.js';
import type { Decision } from '../model/tool.js';

/** The rules of a configuration, compiled once. */
export interface Rules {
  /** What the rules say about one tool: the decision with its reason, and the tags of every matching rule (PAT-4). */
  decide(server: string, tool: string): { readonly decision: Decision; readonly tags: string[] };
  /** Rules that can never decide because an earlier one always does. */
  readonly warnings: readonly Problem[];
}

interface CompiledRule {
  readonly index: number;
  readonly config: RuleConfig;
  readonly patterns: PatternList;
  appliesTo(server: string): boolean;
}

/** Text that a glob reads as itself. */
const PLAIN = /^[^*?[\]{},\\!/]+$/;

const UNIVERSAL: ReadonlySet<string> = new Set(['*', '**', '*:*']);

function compileRule(config: RuleConfig, index: number, problems: Problem[]): CompiledRule | undefined {
  const attempt = <T>(path: string, compile: () => T): T | undefined => {
    try {
      return compile();
    } catch (thrown) {
      problems.push({ path: `toolRules[${index}].${path}`, message: messageOf(thrown) });
      return undefined;
    }
  };
  const { server } = config;
  const patterns = attempt('pattern', () => compilePatterns(config.pattern));
  const where = server === undefined ? undefined : attempt('server', () => compilePattern(server));
  if (!patterns) return undefined;
  return {
    index,
    config,
    patterns,
    appliesTo: (id) =>
      server === undefined || id === server || (where !== undefined && where.matches(id) !== where.negated),
  };
}

/** Whether every tool on which `later` could have a say is one that `earlier` matches; errs towards no. */
function covers(earlier: CompiledRule, later: CompiledRule): boolean {
  return (
    coversServer(earlier, later.config.server) && coversPatterns(earlier.patterns.patterns, later.patterns.patterns)
  );
}

function coversServer(earlier: CompiledRule, later: string | undefined): boolean {
  const { server } = earlier.config;
  if (server === undefined || server === '*' || server === later) return true;
  return later !== undefined && PLAIN.test(later) && earlier.appliesTo(later);
}

function coversPatterns(earlier: readonly Pattern[], later: readonly Pattern[]): boolean {
  const excluded = new Set(later.filter((pattern) => pattern.negated).map((pattern) => pattern.source));
  if (earlier.some((pattern) => pattern.negated && !excluded.has(pattern.source))) return false;
  const wide = earlier.filter((pattern) => !pattern.negated);
  if (wide.length === 0 || wide.some((pattern) => UNIVERSAL.has(pattern.source))) return true;
  const narrow = later.filter((pattern) => !pattern.negated);
  return narrow.length > 0 && narrow.every((pattern) => wide.some((other) => coversPattern(other, pattern)));
}

function coversPattern(wide: Pattern, narrow: Pattern): boolean {
  if (wide.source === narrow.source) return true;
  return wide.hasColon === narrow.hasColon && PLAIN.test(narrow.source) && wide.matches(narrow.source);
}

function findDeadRules(rules: readonly CompiledRule[]): Problem[] {
  const deciding = rules.filter((rule) => rule.config.enabled !== undefined);
  const problems: Problem[] = [];
  for (const [position, rule] of deciding.entries()) {
    const first = deciding.slice(0, position).find((earlier) => covers(earlier, rule));
    if (!first) continue;
    const kept = rule.config.tags?.length ? '; its tags still apply' : '';
    problems.push({
      path: `toolRules[${rule.index}]`,
      message: `can never decide, because toolRules[${first.index}] always decides first${kept}; move it up or remove it`,
    });
  }
  return problems;
}

function describeRule(rule: CompiledRule): string {
  const { pattern, server } = rule.config;
  const patterns = [pattern].flat().map((text) => JSON.stringify(text));
  const where = server === undefined ? '' : `, server ${JSON.stringify(server)}`;
  return oneLine(`toolRules[${rule.index}] (pattern ${patterns.join(', ')}${where})`, 200);
}

/**
 * Compiles the rules of a configuration.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` that names every invalid pattern.
 */
export function compileRules(configs: readonly RuleConfig[]): Rules {
  const problems: Problem[] = [];
  const rules = configs
    .map((config, index) => compileRule(config, index, problems))
    .filter((rule): rule is CompiledRule => rule !== undefined);
  if (problems.length > 0) {
    const first = problems[0]!;
    throw new ToolscoutError('CONFIGURATION_ERROR', `${first.path}: ${first.message}`, { problems });
  }

  const reasons = rules.map((rule) => describeRule(rule));
  const fallback: Decision = rules.some((rule) => rule.config.enabled === true)
    ? { enabled: false, reason: 'allow-list mode: no rule enables it' }
    : { enabled: true, reason: 'default: no rule disables it' };

  return {
    warnings: findDeadRules(rules),
    decide(server, tool) {
      let decision: Decision | undefined;
      const tags = new Set<string>();
      for (const rule of rules) {
        const { enabled } = rule.config;
        const matters = (enabled !== undefined && !decision) || (rule.config.tags?.length ?? 0) > 0;
        if (!matters || !rule.appliesTo(server) || !rule.patterns.matches(server, tool)) continue;
        if (enabled !== undefined) decision ??= { enabled, rule: rule.index, reason: reasons[rule.index]! };
        for (const tag of rule.config.tags ?? []) tags.add(tag);
      }
      return { decision: decision ?? fallback, tags: [...tags] };
    },
  };
}
