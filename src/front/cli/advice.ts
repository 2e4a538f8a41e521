import { ERROR_TABLE, type ErrorCode } from '../../kernel/errors.js';

/** What a person at a command line does where an agent is told to call a meta-tool. */
const COMMANDS: Partial<Record<ErrorCode, string>> = {
  TOOL_VALIDATION_ERROR: 'Fix the named arguments; toolscout inspect SERVER TOOL shows what it takes.',
  TOOL_NOT_FOUND: 'Run toolscout tools SERVER or toolscout search to find the right name.',
  SERVER_NOT_FOUND: 'Run toolscout servers to see the configured servers.',
};

/** What to do about a failure, for the reader of a command line; a suggestion of its own stays as it is. */
export function adviceFor({ code, suggestion }: { readonly code: ErrorCode; readonly suggestion: string }): string {
  return suggestion === ERROR_TABLE[code].suggestion ? (COMMANDS[code] ?? suggestion) : suggestion;
}
