import { addressOf } from '../kernel/ids.js';
import type { RuleConfig } from '../model/config.js';
import { compileRules } from './rules.js';

/** A text as a glob that matches it and nothing else. */
function exactGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{},]|^[!/]/g, String.raw`\$&`);
}

/**
 * Rules that offer this one tool and decide about every other as before (PAT-4). A rule that enables would make the rules a list of
 * what is allowed, so the rules that disable the tool are narrowed instead, or go where they are about nothing else. Only where such a list is in force is the tool added to it.
 * The same rules come back when the tool is offered already.
 */
export function exceptTool(rules: readonly RuleConfig[], server: string, tool: string): readonly RuleConfig[] {
  const address = exactGlob(addressOf(server, tool));
  // Each rule is compiled once and alone: any reader may ask for a preview with an exception (A24).
  const isAbout = (rule: RuleConfig): boolean =>
    compileRules([{ ...rule, enabled: false }]).decide(server, tool).decision.rule !== undefined;
  const next: RuleConfig[] = [];
  for (const [index, rule] of rules.entries()) {
    if (rule.enabled === undefined || !isAbout(rule)) next.push(rule);
    else if (rule.enabled) return unlessSame(rules, [...next, ...rules.slice(index)]);
    else next.push(...narrowed(rule, server, tool));
  }
  if (rules.some(({ enabled }) => enabled === true)) return [...next, { pattern: address, enabled: true }];
  return unlessSame(rules, next);
}

const unlessSame = (rules: readonly RuleConfig[], next: readonly RuleConfig[]): readonly RuleConfig[] =>
  next.length === rules.length && next.every((rule, index) => rule === rules[index]) ? rules : next;

/** Whether a pattern of a rule names this tool and can name no other. */
function namesOnly(pattern: string, rule: RuleConfig, server: string, tool: string): boolean {
  if (pattern === exactGlob(addressOf(server, tool))) return true;
  return rule.server === server && /^[\w.-]+$/.test(server) && !tool.includes(':') && pattern === exactGlob(tool);
}

/** The rule without one tool; what it says besides is said of that tool by a rule of its own. */
function narrowed(rule: RuleConfig, server: string, tool: string): RuleConfig[] {
  const { pattern, enabled: _enabled, server: _server, ...besides } = rule;
  const address = exactGlob(addressOf(server, tool));
  const says = Object.values(besides).some((value) => value !== undefined);
  const own: RuleConfig[] = says ? [{ pattern: address, ...besides }] : [];
  const patterns = [pattern].flat();
  const rest = patterns.filter((one) => !namesOnly(one, rule, server, tool));
  if (rest.length === patterns.length) return [{ ...rule, pattern: [...patterns, `!${address}`] }, ...own];
  // Without a positive pattern the rule would be about every tool; it was about this one alone.
  if (rest.every((one) => one.startsWith('!'))) return own;
  const kept = { ...rule, pattern: rest };
  const isAbout = compileRules([{ ...kept, enabled: false }]).decide(server, tool).decision.rule !== undefined;
  return [isAbout ? { ...rule, pattern: [...rest, `!${address}`] } : kept, ...own];
}
