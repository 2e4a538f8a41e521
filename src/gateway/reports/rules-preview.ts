import { cooperatively } from '../../kernel/async/cooperative.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { addressOf } from '../../kernel/ids.js';
import { compilePattern } from '../../kernel/patterns/pattern.js';
import type { RuleConfig } from '../../model/config.js';
import type { Tool } from '../../model/tool.js';
import { oneLine, printable } from '../../kernel/text.js';
import { compileRules, exceptTool, type Rules } from '../../normalize/index.js';
import type { RuleEffect, RulesPreview } from '../contract/config-change.js';

/** Addresses named of one effect. */
const MAX_NAMED = 200;

/** Steps for one letter of a name, of all patterns together: a tool takes some tens of milliseconds at the worst. */
const MAX_SIZE = 5000;
/** The same for all tools together. */
const MAX_WORK = 20_000_000;
/** What a pattern counts that cannot be compiled; that is reported when all of them are. */
const INVALID_SIZE = 50;
/** Beyond this size others have their turn after each tool. */
const SMALL_SIZE = 200;

function sizeOf(pattern: string): number {
  try {
    return compilePattern(pattern).size;
  } catch {
    // Its fault is named with those of all others.
    return INVALID_SIZE;
  }
}

/** How large the patterns are together; any reader may ask for a preview, so that what would block others is refused (A24). */
function affordableSize(rules: readonly RuleConfig[], tools: number): number {
  const most = Math.min(MAX_SIZE, Math.max(SMALL_SIZE, Math.floor(MAX_WORK / Math.max(1, tools))));
  let size = 0;
  for (const { pattern, server = [] } of rules) {
    for (const text of [pattern, server].flat()) {
      size += sizeOf(text);
      if (size <= most) continue;
      throw new ToolscoutError('INVALID_REQUEST', 'The patterns of these rules are too large for a preview.', {
        suggestion: 'Preview fewer rules at once, or use globs and shorter regular expressions.',
      });
    }
  }
  return size;
}

/** Collects addresses: all are counted, the first are named. */
class Effect implements RuleEffect {
  count = 0;
  readonly tools: string[] = [];

  add(address: string): void {
    this.count += 1;
    if (this.tools.length < MAX_NAMED) this.tools.push(address);
  }
}

function withException(rules: readonly RuleConfig[], tools: readonly Tool[], except: string): readonly RuleConfig[] {
  const tool = tools.find(({ server, name }) => addressOf(server, name) === except);
  if (tool) return exceptTool(rules, tool.server, tool.name);
  throw new ToolscoutError('TOOL_NOT_FOUND', `There is no tool "${oneLine(printable(except), 200)}".`, {
    remedy: { kind: 'find-tool' },
  });
}

/**
 * What rules would turn on, turn off and tag, of these tools, compared with the rules in force; with `except` so changed that this
 * one tool is offered.
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` that names every invalid pattern; `INVALID_REQUEST` when to match them takes too long.
 */
export async function previewRules(
  written: readonly RuleConfig[],
  inForce: Rules,
  tools: readonly Tool[],
  except?: string,
): Promise<RulesPreview> {
  affordableSize(written, tools.length);
  const rules = except === undefined ? written : withException(written, tools, except);
  const size = affordableSize(rules, tools.length);
  const compiled = compileRules(rules);
  // Each rule alone shows what it tags; all together show which one decides.
  const alone = rules.map((rule) => compileRules([{ ...rule, enabled: undefined }]));
  // The first that fits decides whether a call is confirmed, also when it says no.
  const asking = rules.flatMap((rule, at) =>
    rule.confirm === undefined
      ? []
      : [{ at, asks: rule.confirm !== false, fits: compileRules([{ ...rule, enabled: undefined, confirm: true }]) }],
  );
  const effects = rules.map((rule) => ({
    rule,
    enables: new Effect(),
    disables: new Effect(),
    tags: new Effect(),
    confirms: new Effect(),
    waiting: new Effect(),
  }));
  const [undecided, undecidedWaiting] = [new Effect(), new Effect()];
  const [on, off, changedWaiting] = [new Effect(), new Effect(), new Effect()];
  const judge = ({ server, name, status }: Tool): void => {
    // No rule gives agents a tool that a person has yet to approve.
    const isWaiting = status === 'pending' || status === 'quarantined';
    const address = addressOf(server, name);
    const { decision } = compiled.decide(server, name);
    if (decision.rule === undefined) (isWaiting ? undecidedWaiting : undecided).add(address);
    else effects[decision.rule]![isWaiting ? 'waiting' : decision.enabled ? 'enables' : 'disables'].add(address);
    for (const [at, rule] of alone.entries())
      if (rule.decide(server, name).tags.length > 0) effects[at]!.tags.add(address);
    const asks = asking.find(({ fits }) => fits.decide(server, name).confirm !== undefined);
    if (asks?.asks && decision.enabled && !isWaiting) effects[asks.at]!.confirms.add(address);
    const isOn = inForce.decide(server, name).decision.enabled;
    if (decision.enabled !== isOn) (isWaiting ? changedWaiting : decision.enabled ? on : off).add(address);
  };
  await cooperatively(tools, judge, size > SMALL_SIZE ? 1 : undefined);
  return {
    rules: effects,
    undecided: {
      count: undecided.count,
      tools: undecided.tools,
      enabled: !rules.some(({ enabled }) => enabled === true),
      waiting: undecidedWaiting,
    },
    changed: { on, off, waiting: changedWaiting },
    warnings: compiled.warnings,
  };
}
