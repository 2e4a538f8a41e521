import type { JsonObject } from '../../kernel/json.js';
import type { Call, Progress } from '../../model/call.js';

/** A call as a caller of the library makes it. */
export type CallOptions = Partial<Omit<Call, 'server' | 'tool' | 'arguments' | 'principal' | 'viewer'>>;

/** What a question brings along besides what is asked. */
export interface AskOptions {
  /** `_meta` of the asker's request: the trace that the question belongs to. */
  readonly meta?: JsonObject;
  /** The id of the asker's request; the span of the question has it too. */
  readonly traceId?: string;
  /** Told how far it is where a server must be learned before there is an answer. */
  readonly onLearning?: (progress: Progress) => void;
}
