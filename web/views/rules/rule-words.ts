import type { RuleConfig, RulesPreview } from '../../api/types.js';
import { plural } from '../../text/format.js';

/** The names that a rule is about, as one text. */
export function patternText({ pattern }: Pick<RuleConfig, 'pattern'>): string {
  return typeof pattern === 'string' ? pattern : pattern.join(', ');
}

/** What becomes of tools that a rule neither enables nor disables. */
export function keptWord({ confirm }: Pick<RuleConfig, 'confirm'>): string {
  if (confirm === undefined) return 'only tagged';
  return confirm === false ? 'not confirmed' : 'confirmed first';
}

function confirmText({ confirm }: Pick<RuleConfig, 'confirm'>): string | undefined {
  if (confirm === undefined) return undefined;
  if (confirm === false) return 'no later rule asks for a confirmation';
  if (confirm === 'once') return 'a person confirms the first call of each caller';
  return typeof confirm === 'object' ? 'a person confirms calls whose arguments fit' : 'a person confirms every call';
}

/** What a rule does besides turning tools on and off and tagging them; that it does nothing, where that is so. */
export function effectNote(
  rule: Pick<RuleConfig, 'confirm'>,
  { enables, disables, tags }: RulesPreview['rules'][number],
): string | undefined {
  const asks = confirmText(rule);
  if (asks !== undefined) return asks;
  return enables.count + disables.count + tags.count === 0 ? 'decides about no tool' : undefined;
}

/**
 * Why tools are off that no rule names: one rule that enables makes the rules a list of what is allowed. Nothing where
 * they are on.
 */
export function allowListText(rules: readonly Pick<RuleConfig, 'enabled'>[], { undecided }: RulesPreview): string {
  if (undecided.enabled || undecided.count === 0) return '';
  return rules.some(({ enabled }) => enabled === true)
    ? 'With a rule that enables, only tools that such a rule names are offered. To turn a tool back on that a rule disables, remove that rule, or change its names.'
    : 'The config offers only tools that a rule enables.';
}

/** What the rules amount to: compared with what is in force, or for tools that none of them names. */
export function previewText({ changed, undecided }: RulesPreview, isChanged: boolean): string {
  if (isChanged)
    return `Compared with now: ${plural(changed.on.count, 'tool')} more, ${plural(changed.off.count, 'tool')} fewer.`;
  const { count, enabled } = undecided;
  return `${plural(count, 'tool')} that no rule names ${count === 1 ? 'is' : 'are'} ${enabled ? 'offered' : 'not offered'}.`;
}
