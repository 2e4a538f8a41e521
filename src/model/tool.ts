import { isObject, type JsonObject } from '../kernel/json.js';
import type { ItemHold } from './hold.js';
import type { ConfirmRule } from './pending-call.js';

/** Whether a tool is offered; visible and callable are this one status. */
export type ToolStatus = 'enabled' | 'disabled' | 'pending' | 'quarantined';

/** How a tool was learned; only `protocol` tools can be executed (DISC-6). */
export type Provenance = 'protocol' | 'parsed' | 'guessed' | 'declared' | 'predicted';

/** The rule that decided about a tool (PAT-5). */
export interface Decision {
  readonly enabled: boolean;
  /** Index into `toolRules`, or `undefined` when the default decided. */
  readonly rule?: number;
  /** One phrase for people: `rule 2 (pattern "*delete*")` or `no rule enables it, and …`. */
  readonly reason: string;
}

/** One parameter of a tool, flat, for search and signatures. */
export interface Parameter {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
  readonly values?: readonly string[];
}

/** One tool of one server, normalised. Its address is `server:tool`. */
export interface Tool {
  readonly server: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** The description in one line. */
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly domains: readonly string[];
  readonly categories: readonly string[];
  readonly tags: readonly string[];
  readonly status: ToolStatus;
  readonly decision: Decision;
  /** The rule by which a call needs a confirmation before it is sent; absent where none does (SEC-11). */
  readonly confirm?: ConfirmRule;
  /** Why it is pending or quarantined, with one phrase for people; absent otherwise (SEC-9). */
  readonly hold?: ItemHold;
  /** The client that the server comes from runs it without asking. It gives no permission here. */
  readonly autoApproved?: true;
  readonly provenance: Provenance;
  /** How sure it is that the tool exists as described, in [0,1]; absent for what the server listed after a handshake. */
  readonly confidence?: number;
  /** The fallback strategy that found it, e.g. `identifiers`; absent for tools that the server listed after a handshake. */
  readonly rung?: string;
  /** SHA-256 of the definition; key order does not matter. */
  readonly hash: string;
  /** What it was seen to answer, where it does not say so itself and was tried (DISC-9). */
  readonly inferredOutput?: JsonObject;
  /** The tool exactly as the server listed it, vendor fields included. */
  readonly definition: JsonObject;
}

/**
 * Whether a tool was found by a fallback and not listed by its server (DISC-6): it can be looked at where it is marked, and
 * never called. A tool that a rule disables is hidden like any other.
 */
export function isFallback({
  provenance,
  status,
  decision,
}: Pick<Tool, 'provenance' | 'status' | 'decision'>): boolean {
  return provenance !== 'protocol' && status === 'disabled' && decision.enabled;
}

/** Where a fallback tool comes from, as one phrase: `guessed (identifiers, confidence 0.3)`. */
export function provenanceText({
  provenance,
  rung,
  confidence,
}: Pick<Tool, 'provenance' | 'rung' | 'confidence'>): string {
  const details = [rung, confidence === undefined ? undefined : `confidence ${confidence}`].filter(Boolean);
  return details.length === 0 ? provenance : `${provenance} (${details.join(', ')})`;
}

/** That a tool is disabled, and why, as one phrase. */
export function disabledPhrase({ rule, reason }: Decision): string {
  return rule === undefined ? `disabled: ${reason}` : `disabled by ${reason}`;
}

/** Why a tool that no server listed cannot be called, as one phrase. */
export function notListed(tool: Pick<Tool, 'provenance' | 'rung' | 'confidence'>): string {
  return `the server does not list it in tools/list; toolscout only inferred it: ${provenanceText(tool)}`;
}

/** Why a tool is not offered, or by which rule it is, as one phrase. */
export function reasonOf(tool: Pick<Tool, 'provenance' | 'status' | 'decision' | 'rung' | 'confidence'>): string {
  return isFallback(tool) ? `not callable: ${notListed(tool)}` : tool.decision.reason;
}

/** Whether a tool says that it may delete or overwrite something; what only reads does not. */
export function isDestructive({ annotations }: JsonObject): boolean {
  return isObject(annotations) && annotations['destructiveHint'] === true && annotations['readOnlyHint'] !== true;
}

/** Whether a tool says that it only reads; `undefined` where it says nothing about it. */
export function saysReadOnly({ annotations }: JsonObject): boolean | undefined {
  const hint = isObject(annotations) ? annotations['readOnlyHint'] : undefined;
  return typeof hint === 'boolean' ? hint : undefined;
}
