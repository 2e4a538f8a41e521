import type { RuleConfig, RulesPreview } from '../../api/types.js';
import { formatCount, plural } from '../../text/format.js';

/** The names that a rule is about, as one text. */
export function patternText({ pattern }: Pick<RuleConfig, 'pattern'>): string {
  return typeof pattern === 'string' ? pattern : pattern.join(', ');
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']', '/': '/' };

/** The names of a rule from one line; a comma in braces, brackets or a regex, or after a backslash, separates nothing. */
export function patternOf(text: string): RuleConfig['pattern'] {
  const parts = [''];
  let closing: string | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    const part = parts.at(-1)!.trimStart();
    if (char === ',' && closing === undefined) {
      parts.push('');
      continue;
    }
    parts[parts.length - 1] += char === '\\' ? text.slice(at, ++at + 1) : char;
    if (closing !== undefined) closing = char === closing ? undefined : closing;
    // A slash begins a regex only where a name begins.
    else if (char !== '/' || part === '' || part === '!') closing = CLOSING[char];
  }
  const names = parts.map((part) => part.trim());
  return names.length > 1 ? names : names[0]!;
}

/** What a rule makes of tools, as one word of {@link effectWords}. */
export function effectWord({ enabled, confirm }: Pick<RuleConfig, 'enabled' | 'confirm'>): string {
  if (enabled !== undefined) return enabled ? 'enabled' : 'disabled';
  if (confirm === undefined) return 'only tagged';
  return confirm === false ? 'not confirmed' : 'confirmed first';
}

/** What can be chosen for a rule; that it keeps later rules from asking only where the config says so. */
export function effectWords({ confirm }: Pick<RuleConfig, 'confirm'>): readonly string[] {
  return ['enabled', 'disabled', 'confirmed first', ...(confirm === false ? ['not confirmed'] : []), 'only tagged'];
}

/** The parts of a rule for a chosen word. Who is asked how often stays, where the rule says it. */
export function chosenEffect(
  word: string,
  { confirm }: Pick<RuleConfig, 'confirm'>,
): Partial<Pick<RuleConfig, 'enabled' | 'confirm'>> {
  if (word === 'enabled' || word === 'disabled') return { enabled: word === 'enabled' };
  if (word === 'only tagged') return { enabled: undefined, confirm: undefined };
  return { enabled: undefined, confirm: word === 'not confirmed' ? false : confirm || true };
}

function confirmText({ confirm }: Pick<RuleConfig, 'confirm'>): string | undefined {
  if (confirm === undefined) return undefined;
  if (confirm === false) return 'no later rule asks for a confirmation';
  if (confirm === 'once') return 'a person confirms the first call of each caller';
  return typeof confirm === 'object' ? 'a person confirms calls whose arguments fit' : 'a person confirms every call';
}

/** What a rule does besides turning tools on and off and tagging them; that it does nothing, where that is so. */
export function effectNote(
  { confirm }: Pick<RuleConfig, 'confirm'>,
  { enables, disables, tags, confirms, waiting }: RulesPreview['rules'][number],
): string | undefined {
  const asks = confirmText({ confirm });
  if (asks !== undefined) return confirm && confirms.count === 0 ? `${asks}; no offered tool fits` : asks;
  return enables.count + disables.count + tags.count + waiting.count === 0 ? 'decides about no tool' : undefined;
}

/**
 * Why tools are off that no rule turns off: one rule that enables makes the rules a list of what is allowed. Nothing where
 * they are on.
 */
export function allowListText(rules: readonly Pick<RuleConfig, 'enabled'>[], { undecided }: RulesPreview): string {
  if (undecided.enabled || undecided.count === 0) return '';
  return rules.some(({ enabled }) => enabled === true)
    ? 'With a rule that enables, only tools that such a rule names are offered. To turn a tool back on that a rule disables, make an exception for it, or remove that rule.'
    : 'The config offers only tools that a rule enables.';
}

/** What the rules amount to: compared with what is in force, or for tools that none of them names. */
export function previewText({ changed, undecided }: RulesPreview, isChanged: boolean): string {
  if (isChanged)
    return `Compared with now: ${plural(changed.on.count, 'tool')} more, ${plural(changed.off.count, 'tool')} fewer.`;
  const { count, enabled, waiting } = undecided;
  const named = `${plural(count, 'tool')} that no rule turns on or off ${count === 1 ? 'is' : 'are'} ${enabled ? 'offered' : 'not offered'}`;
  return waiting.count === 0 ? `${named}.` : `${named}; ${waitingText(waiting.count, 'more')}.`;
}

/** That tools wait for approval, which no rule changes. */
export function waitingText(count: number, more = ''): string {
  const tools = [formatCount(count), more, count === 1 ? 'tool' : 'tools'].filter(Boolean).join(' ');
  return `${tools} ${count === 1 ? 'waits' : 'wait'} for approval`;
}

/** What a person did who made an exception: nothing is saved yet. */
export function exceptionText(address: string, before: readonly RuleConfig[], after: readonly RuleConfig[]): string {
  if (JSON.stringify(before) === JSON.stringify(after)) return `${address} is offered by these rules already.`;
  return `With the rules below ${address} is offered, and every other tool stays as it is. Nothing is saved yet.`;
}
