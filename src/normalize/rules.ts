import { messageOf, ToolscoutError, type Problem } from '../kernel/errors.js';
import { compilePattern, compilePatterns } from '../kernel/patterns/pattern.js';
import { oneLine } from '../kernel/text.js';
import type { RuleConfig } from '../model/config.js';
import type { ConfirmRule } from '../model/pending-call.js';
import type { Decision } from '../model/tool.js';
import { findDeadRules, type CompiledRule } from './dead-rules.js';

/** The rules of a configuration, compiled once. */
export interface Rules {
  /**
   * What the rules say about one tool: the decision with its reason, the tags of every matching rule, and the first matching rule
   * that says whether a call needs a confirmation (PAT-4, SEC-11).
   */
  decide(
    server: string,
    tool: string,
  ): { readonly decision: Decision; readonly tags: string[]; readonly confirm?: ConfirmRule };
  /** Rules that can never decide because an earlier one always does. */
  readonly warnings: readonly Problem[];
}

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

/** A rule as people count them, from 1; paths of the config count from 0. */
function describeRule(rule: CompiledRule): string {
  const { pattern, server } = rule.config;
  const patterns = [pattern].flat().map((text) => JSON.stringify(text));
  const where = server === undefined ? '' : `, server ${JSON.stringify(server)}`;
  return oneLine(`rule ${rule.index + 1} (pattern ${patterns.join(', ')}${where})`, 200);
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
    ? {
        enabled: false,
        reason:
          'no rule enables it, and a rule with enabled: true in toolRules disables every tool that no rule enables',
      }
    : { enabled: true, reason: 'default: no rule disables it' };

  return {
    warnings: findDeadRules(rules),
    decide(server, tool) {
      let decision: Decision | undefined;
      let confirmed: CompiledRule | undefined;
      const tags = new Set<string>();
      for (const rule of rules) {
        const { enabled, confirm } = rule.config;
        const matters =
          (enabled !== undefined && !decision) ||
          (confirm !== undefined && !confirmed) ||
          (rule.config.tags?.length ?? 0) > 0;
        if (!matters || !rule.appliesTo(server) || !rule.patterns.matches(server, tool)) continue;
        if (enabled !== undefined) decision ??= { enabled, rule: rule.index, reason: reasons[rule.index]! };
        if (confirm !== undefined) confirmed ??= rule;
        for (const tag of rule.config.tags ?? []) tags.add(tag);
      }
      const ask = confirmed?.config.confirm;
      return {
        decision: decision ?? fallback,
        tags: [...tags],
        ...(confirmed && ask ? { confirm: { ask, reason: reasons[confirmed.index]! } } : {}),
      };
    },
  };
}
