import type { ErrorCode, ToolscoutError } from '../../kernel/errors.js';
import type { RetryConfig } from '../../model/config.js';
import { httpStatusOf } from '../upstream/errors.js';

const TRANSIENT: ReadonlySet<ErrorCode> = new Set([
  'RATE_LIMITED',
  'TOOL_EXECUTION_TIMEOUT',
  'SERVER_CONNECTION_ERROR',
]);

/** Failures of the system that time does not heal: the command cannot be run, the URL or the certificate is wrong. */
const PERMANENT_CAUSE =
  /^(ENOENT|EACCES|EPERM|ENOTDIR|ENOEXEC|E2BIG|ERR_INVALID_URL|CERT_|DEPTH_|SELF_|UNABLE_|ERR_TLS_)/;

/** The statuses of HTTP that mean "later". */
const TRANSIENT_STATUS: ReadonlySet<number> = new Set([429, 502, 503, 504]);

const MAX_CAUSE = 5;

function causesOf(error: ToolscoutError): Error[] {
  const causes: Error[] = [];
  let { cause } = error;
  for (; cause instanceof Error && causes.length < MAX_CAUSE; cause = cause.cause) causes.push(cause);
  return causes;
}

/** The HTTP status behind a failure, if there is one. */
export function statusBehind(error: ToolscoutError): number | undefined {
  if (error.refusal) return error.refusal.status;
  for (const cause of causesOf(error)) {
    const status = httpStatusOf(cause);
    if (status !== undefined) return status;
  }
  return undefined;
}

function isPermanent(error: ToolscoutError): boolean {
  const status = statusBehind(error);
  if (status !== undefined) return !TRANSIENT_STATUS.has(status);
  return causesOf(error).some(
    (cause) => 'code' in cause && typeof cause.code === 'string' && PERMANENT_CAUSE.test(cause.code),
  );
}

/**
 * Whether the same request may succeed a moment later: the server was busy (429, 503), slow or not
 * reachable. It says nothing about whether sending it again is safe.
 */
export function isTransient(error: ToolscoutError): boolean {
  return TRANSIENT.has(error.code) && !isPermanent(error);
}

/** The wait before retry number `retry` (from 0) that toolscout chooses: growing, bounded, jittered (CONN-7). */
export function backoffMs(policy: RetryConfig, retry: number, random: () => number): number {
  const jitter = policy.jitterFactor;
  const plain = Math.min(policy.maxDelayMs, policy.initialDelayMs * policy.backoffMultiplier ** retry);
  return Math.min(policy.maxDelayMs, Math.round(plain * (1 - jitter + 2 * jitter * random())));
}

/**
 * The wait before retry number `retry` (from 0), `Retry-After` of the server included; `undefined` when the policy has no retry left, or
 * the server asks for a longer wait than the policy allows.
 */
export function retryWaitMs(
  policy: RetryConfig,
  retry: number,
  { retryAfterMs = 0 }: ToolscoutError,
  random: () => number,
): number | undefined {
  if (retry >= policy.maxRetries || retryAfterMs > policy.maxDelayMs) return undefined;
  return Math.max(retryAfterMs, backoffMs(policy, retry, random));
}
