/** What a script may use, as its worker enforces it. */
export interface SandboxBounds {
  readonly memoryBytes: number;
  /** Computing that is left; waiting for calls does not count. */
  readonly computeMs: number;
  /** Bytes of JSON that it may return. */
  readonly outputBytes: number;
  /** Bytes that it may print; further lines are left out. */
  readonly printBytes: number;
}

/** A suspended VM: its memory, and the state of the sandbox beside it. */
export interface VmImage {
  /** Gzipped. */
  readonly memory: Uint8Array;
  /** The engine and the prelude that wrote it; no other can read it. */
  readonly engine: string;
  /** How the functions of the prelude are found again. */
  readonly exports: number;
  readonly printedBytes: number;
  /** Rejected promises that nothing has handled so far. */
  readonly unhandled: ReadonlyArray<readonly [identity: number, token: number, error: string]>;
  /** What the script ended with, when it waits only for calls that it did not wait for. */
  readonly end?: ScriptEnd;
}

/** A call that a script makes. */
export interface CallRequest {
  readonly id: number;
  readonly server: string;
  readonly tool: string;
  /** The arguments, as JSON. */
  readonly json: string;
  /** Whether it needs the whole result. */
  readonly raw: boolean;
}

/** An error as a script threw it. */
export interface ThrownError {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string;
  /** Something was thrown that is not an error. */
  readonly thrown?: boolean;
  /** What a failed call adds. */
  readonly code?: string;
  readonly server?: string;
  readonly tool?: string;
  readonly suggestion?: string;
}

/** A bound that a script reached, or an engine that broke. */
export type Breach = 'compute' | 'memory' | 'output' | 'engine';

/** How a script ended. */
export type ScriptEnd =
  /** Its value as JSON; `undefined` when it returned nothing. */
  | { readonly kind: 'value'; readonly json: string | undefined }
  | { readonly kind: 'error'; readonly error: ThrownError }
  | { readonly kind: 'syntax'; readonly error: ThrownError };

/** What a worker is asked to do. */
export type WorkerRequest =
  | {
      readonly type: 'start';
      readonly script: string;
      /** Three numbers of 32 bits for `Math.random`. */
      readonly seed: readonly [number, number, number];
      readonly now: number;
      readonly bounds: SandboxBounds;
    }
  | { readonly type: 'restore'; readonly image: VmImage; readonly now: number; readonly bounds: SandboxBounds }
  /** The answer to a call: JSON, a text, a text that may be JSON, or the fields of a `ToolError`. */
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly kind: 'json' | 'text' | 'maybe' | 'error';
      readonly text: string;
      readonly now: number;
    }
  | { readonly type: 'suspend' }
  | { readonly type: 'discard' };

/** What a worker says. After each `start`, `restore` and `answer` exactly one `rest`, `breach` or nothing more comes. */
export type WorkerMessage =
  | { readonly type: 'ready' }
  | {
      readonly type: 'rest';
      readonly calls: readonly CallRequest[];
      readonly printed: readonly string[];
      readonly computedMs: number;
      readonly end?: ScriptEnd;
    }
  | {
      readonly type: 'breach';
      readonly breach: Breach;
      readonly detail: string;
      /** What the script printed since it last rested. */
      readonly printed?: readonly string[];
      /** The stack trace at that moment. */
      readonly place?: string;
    }
  | { readonly type: 'suspended'; readonly image: VmImage };
