import type { JsonObject } from '../kernel/json.js';
import type { Call } from '../model/call.js';
import type { Subject } from './checks.js';

/**
 * The port for a person's confirmation (SEC-11). It is asked after validation, and before anything is sent (EXEC-2).
 */
export interface Confirmation {
  /** Whether the call needs a confirmation. */
  needed(subject: Subject): boolean;
  /**
   * Gets the yes: the call as it may be sent, or a question for a host that answers by calling again. `onAsking` is told `true`
   * when it begins to wait for an answer, `false` when it has it.
   *
   * @throws ToolscoutError `CONFIRMATION_REQUIRED` or `CONFIRMATION_REJECTED`.
   */
  clear(
    subject: Subject,
    onAsking: (isOpen: boolean) => void,
  ): Promise<
    | { readonly question: JsonObject }
    | { readonly call: Call; readonly carry: (result: JsonObject) => Promise<JsonObject> }
  >;
}
