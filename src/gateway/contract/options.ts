import type { Cancel } from '../../kernel/async/cancel.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Remedy } from '../../kernel/remedy.js';
import type { Call, CallResult, Progress } from '../../model/call.js';
import type { Tool } from '../../model/tool.js';

/** A call as a caller of the library makes it. */
export interface CallOptions {
  /** The door it came through, for the audit log; `library` by default. */
  readonly route?: 'library' | 'mcp' | 'cli' | 'http';
  /** What the caller's program calls itself, for the audit log; nothing proves it. */
  readonly hostName?: string;
  /** The id of the caller's request; the audit record has it too. */
  readonly traceId?: string;
  /** `_meta` of the caller's request, passed on (trace context). */
  readonly meta?: JsonObject;
  readonly timeoutMs?: number;
  readonly signal?: Cancel;
  readonly onProgress?: (progress: Progress) => void;
  /** It runs only if the tool counts as one that only reads (META-10). */
  readonly readOnly?: boolean;
  /** JMESPath: the part of the result that is wanted (ANS-4). */
  readonly select?: string;
  /** A result that costs more is kept, and a preview of it with a handle is returned; without it the result is whole (ANS-1). */
  readonly maxTokens?: number;
}

/** A call as a front makes it for a host: the host can be asked while it runs. */
export type HostCallOptions = CallOptions &
  Partial<Pick<Call, 'host' | 'problems' | 'resumed' | 'parent' | 'budget' | 'wordFailure'>>;

/** A script as a caller of the library runs it; `timeoutMs` only shortens what the configuration allows. */
export type ScriptOptions = CallOptions;

/** A script as a front runs it for a host: the host can be asked while it runs, and answers what an earlier round asked. */
export type HostScriptOptions = ScriptOptions &
  Partial<Pick<Call, 'host' | 'resumed'>> & {
    /** Words a remedy for the readers of the script's errors. */
    readonly advise?: (remedy: Remedy) => string;
    /** Does something around each call of the script; `run` makes the call as part of the given trace. */
    readonly aroundCall?: (
      address: { readonly server: string; readonly tool: string },
      trace: Pick<CallOptions, 'meta' | 'traceId'>,
      run: (trace: Pick<CallOptions, 'meta' | 'traceId'>) => Promise<CallResult>,
    ) => Promise<CallResult>;
  };

/** What a question brings along besides what is asked. */
export interface AskOptions {
  /** `_meta` of the asker's request: the trace that the question belongs to. */
  readonly meta?: JsonObject;
  /** The id of the asker's request; the span of the question has it too. */
  readonly traceId?: string;
  /** Told how far it is where a server must be learned before there is an answer. */
  readonly onLearning?: (progress: Progress) => void;
}

/** Who does something, for the audit log; the viewer by default. */
export interface ActOptions {
  readonly by?: string;
  /** The id of the request with which it was done. */
  readonly traceId?: string;
}

/** A reload on behalf of a person, or one that the watched file causes. */
export interface ReloadOptions extends ActOptions {
  /** The config file is gone: this is reported, and nothing is read. */
  readonly isGone?: boolean;
}

/** Which tools of a server are listed besides those that may be run. */
export interface ListToolsOptions extends AskOptions {
  readonly includeDisabled?: boolean;
  /** Also tools that a fallback found and that cannot be called (DISC-6). */
  readonly includeFallback?: boolean;
}

/** Which tool may be looked at besides those that may be run. */
export interface DetailsOptions extends AskOptions {
  /** Also one that a rule disables: who decides about the rule must see what it does. */
  readonly includeDisabled?: boolean;
}

/** A tool, and its definition without what an agent does not need. */
export interface ToolDetails {
  readonly tool: Tool;
  readonly lean: JsonObject;
}

/** What is recorded of a list of tools besides the list: whose request it was, and of which server alone. */
export interface MenuOptions extends Pick<CallOptions, 'traceId'>, Pick<Call, 'hostName'> {
  readonly server?: string;
}
