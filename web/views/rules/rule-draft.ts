import type { RuleConfig } from '../../api/types.js';

type Rules = readonly RuleConfig[];

const isSame = (a: Rules, b: Rules): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Rules that are being written and not saved. */
export interface RuleDraft {
  readonly rules: Rules | undefined;
  /** Keeps what is written; what is the same as the config is no draft. */
  keep(rules: Rules, config: Rules): void;
  /** Whether the config has changed since the draft was begun. */
  isOutdated(config: Rules): boolean;
  drop(): void;
}

/** No draft yet. */
export function createDraft(): RuleDraft {
  let kept: { readonly rules: Rules; readonly begun: Rules } | undefined;
  return {
    get rules() {
      return kept?.rules;
    },
    keep(rules, config) {
      kept = isSame(rules, config) ? undefined : { rules, begun: kept?.begun ?? config };
    },
    isOutdated: (config) => kept !== undefined && !isSame(kept.begun, config),
    drop: () => (kept = undefined),
  };
}
