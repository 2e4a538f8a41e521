import { cooperatively } from '../../kernel/async/cooperative.js';
import { addressOf } from '../../kernel/ids.js';
import type { RuleConfig } from '../../model/config.js';
import type { Tool } from '../../model/tool.js';
import { compileRules, type Rules } from '../../normalize/index.js';
import type { RuleEffect, RulesPreview } from '../contract/config-change.js';

/** Addresses named of one effect. */
const MAX_NAMED = 200;

/** Collects addresses: all are counted, the first are named. */
class Effect implements RuleEffect {
  count = 0;
  readonly tools: string[] = [];

  add(address: string): void {
    this.count += 1;
    if (this.tools.length < MAX_NAMED) this.tools.push(address);
  }
}

/**
 * What rules would turn on, turn off and tag, of these tools, compared with the rules in force.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` that names every invalid pattern.
 */
export async function previewRules(
  rules: readonly RuleConfig[],
  inForce: Rules,
  tools: readonly Tool[],
): Promise<RulesPreview> {
  const compiled = compileRules(rules);
  // Each rule alone shows what it tags; all together show which one decides.
  const alone = rules.map((rule) => compileRules([{ ...rule, enabled: undefined }]));
  const effects = rules.map((rule) => ({ rule, enables: new Effect(), disables: new Effect(), tags: new Effect() }));
  const undecided = new Effect();
  const [on, off] = [new Effect(), new Effect()];
  await cooperatively(tools, ({ server, name }) => {
    const address = addressOf(server, name);
    const { decision } = compiled.decide(server, name);
    if (decision.rule === undefined) undecided.add(address);
    else effects[decision.rule]![decision.enabled ? 'enables' : 'disables'].add(address);
    for (const [at, rule] of alone.entries())
      if (rule.decide(server, name).tags.length > 0) effects[at]!.tags.add(address);
    const isOn = inForce.decide(server, name).decision.enabled;
    if (decision.enabled !== isOn) (decision.enabled ? on : off).add(address);
  });
  return {
    rules: effects,
    undecided: {
      count: undecided.count,
      tools: undecided.tools,
      enabled: !rules.some(({ enabled }) => enabled === true),
    },
    changed: { on, off },
    warnings: compiled.warnings,
  };
}
