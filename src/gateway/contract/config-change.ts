import type { Problem } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import type { ComparedLine } from '../../kernel/line-diff.js';
import type { ConfigChange, PlacedProblem, PlannedLaunch } from '../../model/config-change.js';
import type { RuleConfig } from '../../model/config.js';
import type { ClientRows } from '../../model/source.js';
import type { ReloadReport } from '../reload.js';

/** The config file as it may be shown: a placeholder stands for every credential, and may stand in a change as well. */
export interface ConfigFile {
  /** The file that changes go to, whether it is there or not. */
  readonly path?: string;
  readonly exists: boolean;
  /** The file in force is gone: its last content stays in force. */
  readonly isGone?: boolean;
  readonly text: string;
  /** Its servers as they are written there. */
  readonly servers: Readonly<Record<string, JsonObject>>;
  /** Why it cannot be changed from here. */
  readonly problem?: string;
  /** Why its present content is not used; the previous config stays in force. */
  readonly rejected?: readonly PlacedProblem[];
  /** What may be wrong with the config in force; with lines where that is the content of the file. */
  readonly warnings?: readonly PlacedProblem[];
}

/** What a change would do. Credentials are placeholders. */
export interface ShownPlan {
  readonly file: string;
  readonly before: string;
  readonly after: string;
  readonly diff: readonly ComparedLine[];
  /** What keeps it from being applied. */
  readonly problems: readonly PlacedProblem[];
  readonly warnings: readonly PlacedProblem[];
  /** Commands that would be run and URLs that would be reached, and are not now. */
  readonly commands: readonly PlannedLaunch[];
  /** Names exactly this change of exactly this file. */
  readonly plan: string;
}

/** A change that was written. */
export interface AppliedChange {
  readonly file: string;
  readonly backup?: string;
  /** What the reload changed; absent when the config was written and could not be taken over. */
  readonly report?: ReloadReport;
  readonly problem?: string;
}

/** What is imported from which clients of this machine. */
export interface ImportRequest {
  /** Names of clients; all of them when empty. */
  readonly sources: readonly string[];
  /** Only these servers, by the ids they have there. */
  readonly servers?: readonly string[];
  /** Take credentials along, into the file with secrets. */
  readonly credentials?: boolean;
}

/** What an import would do. */
export interface ShownImport extends ShownPlan {
  readonly clients: readonly ClientRows[];
  readonly additions: number;
  /** What to paste where the config is code, which is not edited. */
  readonly paste?: string;
}

/** What one rule does. Addresses are `server:tool`; of many the first are named. */
export interface PreviewedRule {
  readonly rule: RuleConfig;
  readonly enables: RuleEffect;
  readonly disables: RuleEffect;
  readonly tags: RuleEffect;
  /** Tools whose calls it makes a person confirm, as far as they are offered. */
  readonly confirms: RuleEffect;
  /** Tools that it decides about and that wait for approval: agents do not get them, whatever it says. They are in neither of the first two. */
  readonly waiting: RuleEffect;
}

/** Tools that a rule decides about. */
export interface RuleEffect {
  readonly count: number;
  readonly tools: readonly string[];
}

/** What rules would turn on and off. */
export interface RulesPreview {
  readonly rules: readonly PreviewedRule[];
  /** Tools that no rule decides about. */
  readonly undecided: RuleEffect & { readonly enabled: boolean; readonly waiting: RuleEffect };
  /** Compared with the rules in force. */
  readonly changed: { readonly on: RuleEffect; readonly off: RuleEffect; readonly waiting: RuleEffect };
  readonly warnings: readonly Problem[];
}

/** Verbs that change the config file, in two steps: what is applied is what was shown (STUDIO-8). */
export interface ConfigChangeVerbs {
  configFile(): Promise<ConfigFile>;
  planConfig(change: ConfigChange): Promise<ShownPlan>;
  applyConfig(change: ConfigChange, plan: string): Promise<AppliedChange>;
  /** Enables or disables a server of the config file. */
  setEnabled(server: string, enabled: boolean): Promise<AppliedChange>;
  planImport(request: ImportRequest): Promise<ShownImport>;
  applyImport(request: ImportRequest, plan: string): Promise<AppliedChange>;
  /** With `except`, a tool as `server:tool`, the rules are previewed with an exception for it. */
  previewRules(rules: readonly RuleConfig[], options?: { readonly except?: string }): Promise<RulesPreview>;
}
