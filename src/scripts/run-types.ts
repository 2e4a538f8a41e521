import type { Cancel } from '../kernel/async/cancel.js';
import type { Clock } from '../kernel/clock.js';
import type { ToolscoutError } from '../kernel/errors.js';
import type { JsonObject } from '../kernel/json.js';
import type { Remedy } from '../kernel/remedy.js';
import type { Progress } from '../model/call.js';
import type { Host } from '../model/host.js';
import type { ScriptBounds } from '../model/script.js';
import type { AskingCall } from './asking-call.js';
import type { LiveCall } from './live-call.js';
import type { Answer, CallTool } from './script-call.js';
import type { CallRequest, ScriptEnd, VmImage } from './worker-messages.js';
import type { Workers } from './workers.js';

/** What a run has used so far; a suspended one goes on with it. */
export interface Used {
  readonly calls: number;
  readonly computedMs: number;
  readonly elapsedMs: number;
  readonly printed: readonly string[];
  /** Calls that succeeded, by address. */
  readonly done?: ReadonlyArray<readonly [address: string, calls: number]>;
  /** It went on where an earlier call of the host had stopped. */
  readonly wentOn?: true;
  /** It was suspended for a question. */
  readonly wasAsked?: true;
}

/** Keeps what a resumed script does, so that no call is made twice when the process dies (CODE-5). */
export interface Journal {
  /** Notes that a call is about to be sent, durably; `false` when that was noted before. */
  sending(request: CallRequest, round: number): Promise<boolean>;
  /** Notes an answer before the script gets it. */
  answered(id: number, answer: Answer, now: number): Promise<void>;
  /** The answers that were noted before, in their order. */
  readonly noted: ReadonlyArray<{ readonly id: number; readonly answer: Answer; readonly now: number }>;
}

/** The answer that a script was last given. */
export interface LastAnswer extends Answer {
  readonly address: string;
}

/** How a run ended. */
export type RunEnd = { readonly used: Used; readonly last?: LastAnswer } & (
  | { readonly kind: 'ended'; readonly end: ScriptEnd }
  | {
      readonly kind: 'stopped';
      readonly error: ToolscoutError;
      /** The stack trace of the script at that moment. */
      readonly place?: string;
    }
  | {
      readonly kind: 'suspended';
      readonly image: VmImage;
      readonly asking: readonly AskingCall[];
      readonly live: ReadonlyMap<number, LiveCall>;
    }
);

/** What a run needs. */
export interface RunOptions {
  readonly clock: Clock;
  readonly workers: Workers;
  /** Whose script it is. */
  readonly owner?: string;
  readonly bounds: ScriptBounds & { readonly outputBytes: number; readonly printBytes: number };
  readonly callTool: CallTool;
  readonly host?: Host;
  readonly signal?: Cancel;
  readonly onProgress?: (progress: Progress) => void;
  readonly advise?: (remedy: Remedy) => string;
  readonly journal?: Journal;
}

/** Where a run begins: with a script, or with one that was suspended and the answers to what it asked. */
export type RunStart =
  | { readonly script: string; readonly seed: readonly [number, number, number] }
  | {
      readonly image: VmImage;
      readonly asking: readonly AskingCall[];
      readonly live: ReadonlyMap<number, LiveCall>;
      readonly responses: JsonObject;
      /** Questions that the host did not answer, and why; the calls that asked them fail. */
      readonly refusals?: ReadonlyMap<string, ToolscoutError>;
      readonly used: Used;
    };
