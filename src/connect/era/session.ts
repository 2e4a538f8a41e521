import type { JsonObject } from '../../kernel/json.js';

/** What was agreed with a server when the connection was made, and how to listen on it. */
export interface Session {
  readonly era: 'legacy' | 'modern';
  readonly protocolVersion: string;
  /** What the server calls itself, if it does. */
  readonly info: JsonObject | undefined;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
  /** Modern servers only: begins to hear of what the filter names; resolves when the server has agreed. */
  listen(filter: JsonObject, timeoutMs: number): Promise<Listening>;
}

/** What a server was asked to tell. */
export interface Listening {
  close(): Promise<void>;
}
