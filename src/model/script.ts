import type { ErrorCode, Severity } from '../kernel/errors.js';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import type { Remedy } from '../kernel/remedy.js';

/** What one script may use (CODE-3). */
export interface ScriptBounds {
  /** Memory of its VM. */
  readonly memoryBytes: number;
  /** Computing; waiting for calls does not count. */
  readonly computeMs: number;
  /** From start to end; waiting for a person does not count. */
  readonly timeoutMs: number;
  readonly calls: number;
  /** Calls at once; further ones wait for their turn. */
  readonly parallel: number;
}

/** Why a script did not succeed, and where in the script as it was written (CODE-6). */
export interface ScriptFailure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly remedy: Remedy;
  readonly suggestion: string;
  readonly severity: Severity;
  readonly line?: number;
  readonly column?: number;
  /** That line of the script. */
  readonly source?: string;
  /** The failed call that the script did not catch. */
  readonly call?: {
    readonly code: string;
    readonly server: string;
    readonly tool: string;
  };
}

/** What became of a script (CODE-1). */
export interface ScriptResult {
  readonly success: boolean;
  /** What it returned; absent when it returned nothing. */
  readonly value?: JsonValue;
  /** What it printed, one entry for each `print`. */
  readonly printed: readonly string[];
  /** Calls that it made. */
  readonly calls: number;
  readonly error?: ScriptFailure;
  /** What toolscout has to say about the run, beside what the script printed. */
  readonly note?: string;
  /** It waits for a person: these questions go to the host, and the state comes back with the answers (CODE-5). */
  readonly suspended?: { readonly state: string; readonly inputRequests: JsonObject };
}

/** What is said about a script that succeeded without a value. */
export function nothingReturned(script: string): string {
  if (/^[\s;(]*(?:async\b|function\b)/.test(script)) {
    return 'The script returned nothing. Send the body of the function itself, and return the value there.';
  }
  return /\breturn\b/.test(script)
    ? 'The script returned undefined. A field of an answer is (await tools.SERVER.TOOL({…})).field.'
    : 'The script returned nothing. Use return to give a value back.';
}
