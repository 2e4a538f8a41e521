import type { ErrorCode } from '../../src/kernel/errors.js';

/** What each code says of a call that did not succeed. */
const CODE_WORDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  TOOL_VALIDATION_ERROR: 'The arguments do not fit the schema of the tool; nothing was sent.',
  TOOL_NOT_FOUND: 'The server has no tool of this name.',
  SERVER_NOT_FOUND: 'No server of this name is configured.',
  SKILL_NOT_FOUND: 'There is no skill of this name.',
  TOOL_DISABLED: 'A rule turns this tool off.',
  APPROVAL_REQUIRED: 'The tool or its server waits for approval.',
  TOOL_CHANGED: 'The tool changed since it was trusted and waits for approval.',
  CONFIRMATION_REQUIRED: 'A person must confirm this call first.',
  CONFIRMATION_REJECTED: 'A person said no to this call.',
  FORBIDDEN: 'The caller may not do this.',
  RATE_LIMITED: 'The server was asked too often.',
  CIRCUIT_OPEN: 'The server failed several times in a row and was left alone for a moment; its page has the cause.',
  TOOL_EXECUTION_TIMEOUT: 'The server did not answer in time.',
  TOOL_EXECUTION_ERROR: 'The tool answered with an error.',
  SCRIPT_ERROR: 'The script threw an error.',
  SCRIPT_LIMIT_EXCEEDED: 'The script reached one of its limits.',
  CANCELLED: 'The caller cancelled it; the server may have done part of the work.',
  SERVER_CONNECTION_ERROR: 'The server could not be reached, or went away; its page has the cause.',
  AUTHENTICATION_FAILED: 'The server asks for a sign-in or another credential.',
  SESSION_INIT_FAILED: 'The server refused the handshake.',
  TOOLS_LIST_FAILED: 'The server could not list its tools.',
  OVERLOADED: 'toolscout had too much to do and let no new call begin.',
  SHUTTING_DOWN: 'toolscout was stopping.',
  INTERNAL_ERROR: 'This is a bug in toolscout.',
};

/** A sentence for a code; `undefined` for one that needs none. */
export function codeText(code: string): string | undefined {
  return Object.hasOwn(CODE_WORDS, code) ? CODE_WORDS[code as ErrorCode] : undefined;
}

/** How something ended: what was cancelled has not failed. */
export function outcomeWord(outcome: string, code?: string): string {
  if (outcome === 'open') return 'running';
  return outcome === 'failure' && code === 'CANCELLED' ? 'cancelled' : outcome;
}
