import type { JsonValue } from '../kernel/json.js';

/** The rule that makes calls of a tool need a confirmation (SEC-11). */
export interface ConfirmRule {
  readonly ask: true | 'once' | { readonly when: string };
  /** One phrase for people: `rule 2 (pattern "*delete*")`. */
  readonly reason: string;
}

/** What a yes covers: one call with its arguments, or every call of the tool by the same caller, for {@link ONCE_DAYS} days. */
export type ConfirmScope = 'call' | 'tool';

/** For how many days a yes to a tool with `confirm: "once"` holds. */
export const ONCE_DAYS = 30;

/** What a yes that a rule asks for covers. */
export function scopeOf({ ask }: ConfirmRule): ConfirmScope {
  return ask === 'once' ? 'tool' : 'call';
}

/** When calls of a tool need a person's yes, and which rule wants it, as it is shown to people and programs. */
export interface ShownConfirm {
  /** Each call, the first of each caller, or those whose arguments fit the expression `when`. */
  readonly asks: 'always' | 'once' | 'when';
  readonly when?: string;
  readonly rule: string;
}

/** What a rule asks for, to be shown; `undefined` where calls need no yes. */
export function showConfirm(confirm: ConfirmRule | undefined): ShownConfirm | undefined {
  if (!confirm) return undefined;
  const { ask, reason: rule } = confirm;
  if (typeof ask === 'object') return { asks: 'when', when: ask.when, rule };
  return { asks: ask === 'once' ? 'once' : 'always', rule };
}

/** The state of a call that needs a confirmation; `used` means that the confirmed call was made. */
export type PendingCallState = 'waiting' | 'approved' | 'rejected' | 'used' | 'expired';

/** A call that waits for a person, or what they said (SEC-11). */
export interface PendingCall {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  /** The tool says that it may delete or overwrite something; absent where it does not, and where it is not known any more. */
  readonly destructive?: true;
  /** Redacted, as in the audit log. */
  readonly arguments: JsonValue;
  /** SHA-256 of the arguments before redaction: with the scope `call`, the answer holds for these and no others. */
  readonly argumentsHash: string;
  /** The caller of the call. */
  readonly principal: string;
  /** What the host calls itself that made the call over MCP; nothing proves it. */
  readonly host?: string;
  readonly skill?: string;
  readonly route: string;
  /** The rule that asks, as one phrase. */
  readonly rule: string;
  readonly scope: ConfirmScope;
  readonly state: PendingCallState;
  /** What was decided about it before it expired; absent if it expired undecided. */
  readonly was?: 'approved' | 'rejected';
  readonly requestedAt: number;
  /** After this there is no answer any more; after a confirmation: until when the call can be made. */
  readonly expiresAt: number;
  readonly ruling?: {
    readonly by: string;
    readonly reason?: string;
    readonly at: number;
    /** The door through which it was decided. */
    readonly via: 'operator' | 'webhook';
  };
}

/** Which calls are wanted. */
export interface PendingCallFilter {
  readonly state?: PendingCallState;
  readonly server?: string;
}
