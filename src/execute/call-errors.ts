import type { Cancel } from '../kernel/async/cancel.js';
import { ToolscoutError, toToolscoutError } from '../kernel/errors.js';

/** A call that was not sent, because a person has to be asked again. */
export function askAnew(message: string): ToolscoutError {
  const suggestion = 'Make the same call again; a person is then asked to confirm it.';
  return new ToolscoutError('CONFIRMATION_REQUIRED', message, { suggestion, delivered: false });
}

/** The error of a call that its caller gave up. */
export function cancelled(signal: Cancel, delivered?: boolean): ToolscoutError {
  return new ToolscoutError('CANCELLED', 'The call was cancelled.', { delivered, cause: signal.reason });
}

/** What ended a call, as an error: a signal may be aborted with any reason, and the wait for a retry ends with just that. */
export function toCallError(thrown: unknown, signal: Cancel | undefined): ToolscoutError {
  if (signal?.aborted && !(thrown instanceof ToolscoutError)) return cancelled(signal);
  return toToolscoutError(thrown);
}
