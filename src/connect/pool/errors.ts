import { ToolscoutError } from '../../kernel/errors.js';

/** A failure to connect, told to a caller: nothing was sent, and until `retryAfterMs` nothing will be tried. */
export function neverSent(error: ToolscoutError, retryAfterMs = error.retryAfterMs): ToolscoutError {
  return new ToolscoutError(error.code, error.message, {
    remedy: error.remedy,
    severity: error.severity,
    problems: error.problems,
    upstream: error.upstream,
    refusal: error.refusal,
    delivered: false,
    retryAfterMs,
    // The first cause, not a chain that grows with every attempt.
    cause: error.cause ?? error,
  });
}

/** The refusal of a pool that is closing. */
export function shuttingDown(): ToolscoutError {
  return new ToolscoutError('SHUTTING_DOWN', 'toolscout is stopping and accepts no new calls.', { delivered: false });
}

/** The refusal when more hosts use one server at once than connections to it are kept. */
export function crowded(server: string, hosts: number): ToolscoutError {
  const message = `"${server}" already serves ${hosts} hosts, the limit for one server.`;
  return new ToolscoutError('RATE_LIMITED', message, {
    suggestion: 'Close a host that uses it, or try again later.',
    delivered: false,
  });
}

/** The answer to a caller who left while the connection was being made. */
export function cancelledBeforeSent(server: string): ToolscoutError {
  return new ToolscoutError('CANCELLED', `The call was cancelled while "${server}" was being connected.`, {
    delivered: false,
  });
}
