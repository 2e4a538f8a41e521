import { adviceOf } from '../text/advice.js';
import type { Problem } from './types.js';

/** A failed request: what the API said, or what the browser said when nothing answered. */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: Partial<Problem>;

  constructor(status: number, problem: Partial<Problem>) {
    super(problem.detail ?? problem.title ?? `The request failed with status ${status}.`);
    this.name = 'ApiError';
    this.status = status;
    this.problem = problem;
  }

  /** What to do about it, where the API knows. */
  get suggestion(): string | undefined {
    return adviceOf(this.problem.suggestion);
  }

  /** Whether toolscout itself could not be reached. */
  get isOffline(): boolean {
    return this.status === 0;
  }
}

/** The problems that the message of a failure does not tell itself. */
export function unsaidProblems({ message, problem }: ApiError): NonNullable<Problem['problems']> {
  return (problem.problems ?? []).filter((each) => !message.includes(each.message));
}

/** Whatever was thrown, as an error of the API. */
export function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return new ApiError(0, {
    // What a browser says of a connection that nothing accepts says nothing more.
    detail: `toolscout could not be reached${/fetch|network|load failed/i.test(detail) ? '' : ` (${detail})`}.`,
    suggestion: 'If it does not run, start it with `npx toolscout studio`.',
  });
}

/** Reads the problem of an answer that failed. */
export async function readProblem(response: Response): Promise<ApiError> {
  const text = await response.text();
  try {
    return new ApiError(response.status, JSON.parse(text) as Problem);
  } catch {
    return new ApiError(response.status, { detail: text.slice(0, 500) || response.statusText });
  }
}
