import { ToolscoutError } from './errors.js';
import { seconds } from './text.js';

/** When to try again, as the end of a clause; {@link withoutRetryHint} takes it out of a message that is kept. */
export function retryHint(ms: number): string {
  return `; the next attempt is possible in ${seconds(ms)}`;
}

/** How long a server is left alone, as the end of a clause. */
export function restHint(ms: number): string {
  return ` and is not called for the next ${seconds(ms)}`;
}

/** Both hints, also as older versions worded them: messages with those are in stores. */
const HINT =
  /(?:; (?:the next attempt is possible|try again) in| and is not called for the next|, and it is not tried again for) \d+(?:\.\d+)? m?s\b/g;

/** A message as it may be shown later: what it says of a time that begins with it is over by then. */
export function withoutRetryHint(message: string): string {
  return message.replaceAll(HINT, '');
}

/** The same error as it may be kept and shown later. */
export function lastingError(error: ToolscoutError): ToolscoutError {
  const message = withoutRetryHint(error.message);
  if (message === error.message && error.retryAfterMs === undefined) return error;
  const { code, remedy, severity, problems, file, delivered, upstream, refusal, cause } = error;
  return new ToolscoutError(code, message, {
    remedy,
    severity,
    problems,
    file,
    delivered,
    upstream,
    refusal,
    cause,
  });
}
