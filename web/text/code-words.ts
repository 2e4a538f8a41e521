import type { ErrorCode } from '../../src/kernel/errors.js';
import { hrefTo } from '../app/router.js';

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
  TOOL_EXECUTION_TIMEOUT: 'The call did not end within its time limit.',
  TOOL_EXECUTION_ERROR: 'The tool answered with an error.',
  SCRIPT_ERROR: 'The script threw an error.',
  SCRIPT_LIMIT_EXCEEDED: 'The script reached one of its limits.',
  CANCELLED: 'The caller cancelled it; what was sent before may have taken effect.',
  SERVER_CONNECTION_ERROR: 'The server could not be reached, or went away; its page has the cause.',
  AUTHENTICATION_FAILED: 'The server asks for a sign-in or another credential.',
  SESSION_INIT_FAILED: 'The server refused the handshake.',
  TOOLS_LIST_FAILED: 'The server could not list its tools.',
  OVERLOADED: 'toolscout had too much to do and let no new call begin.',
  SHUTTING_DOWN: 'toolscout was stopping.',
  INTERNAL_ERROR: 'This is a bug in toolscout.',
};

/** What happened before a server answered anything. */
const UNREACHED: ReadonlySet<string> = new Set<ErrorCode>([
  'SERVER_CONNECTION_ERROR',
  'AUTHENTICATION_FAILED',
  'SESSION_INIT_FAILED',
  'TOOLS_LIST_FAILED',
]);
/** What the page of the server tells more about. */
const SERVER_CODES: ReadonlySet<string> = new Set<string>([
  ...UNREACHED,
  'CIRCUIT_OPEN' satisfies ErrorCode,
  'TOOL_EXECUTION_TIMEOUT' satisfies ErrorCode,
  'RATE_LIMITED' satisfies ErrorCode,
]);

/** A sentence for a code; `undefined` for one that needs none. */
export function codeText(code: string): string | undefined {
  return Object.hasOwn(CODE_WORDS, code) ? CODE_WORDS[code as ErrorCode] : undefined;
}

/** How something ended: what was cancelled has not failed. */
export function outcomeWord(outcome: string, code?: string): string {
  if (outcome === 'open') return 'running';
  // The record stays as it is when a person has decided.
  if (outcome === 'waiting') return 'needs a yes';
  return outcome === 'failure' && code === 'CANCELLED' ? 'cancelled' : outcome;
}

/** Codes of calls that toolscout did not let through. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  'TOOL_VALIDATION_ERROR',
  'TOOL_NOT_FOUND',
  'SERVER_NOT_FOUND',
  'SKILL_NOT_FOUND',
  'TOOL_DISABLED',
  'APPROVAL_REQUIRED',
  'TOOL_CHANGED',
  'CONFIRMATION_REJECTED',
  'FORBIDDEN',
  'CIRCUIT_OPEN',
  'OVERLOADED',
  'SHUTTING_DOWN',
]);

/** How a call ended that did not succeed, in the words of its audit record. */
export function outcomeOfCode(code: string | undefined): 'waiting' | 'refused' | 'failure' {
  if (code === 'CONFIRMATION_REQUIRED') return 'waiting';
  return code !== undefined && REFUSALS.has(code) ? 'refused' : 'failure';
}

/** Where a person sees more about a call that did not succeed, or decides about it. */
export function placeOfCode(
  code: string | undefined,
  server: string | undefined,
  tool?: string,
): { readonly href: string; readonly label: string } | undefined {
  if (code === 'CONFIRMATION_REQUIRED') return { href: '#/approvals', label: 'See the calls that wait' };
  if (code === 'TOOL_DISABLED') return { href: '#/rules', label: 'Open the rules' };
  if (server === undefined || code === undefined) return undefined;
  if (code === 'APPROVAL_REQUIRED' || code === 'TOOL_CHANGED') {
    return { href: hrefTo('approvals', [tool === undefined ? server : `${server}:${tool}`]), label: 'See what waits' };
  }
  return SERVER_CODES.has(code) ? { href: hrefTo('servers', [server]), label: 'Open the server' } : undefined;
}

/** Whether a tool of this name is there to be opened. */
export function hasTool(code: string | undefined): boolean {
  return code !== 'TOOL_NOT_FOUND' && code !== 'SERVER_NOT_FOUND';
}

/** Whether a call ended because its server was not reached. */
export function isUnreached(code: string | undefined): boolean {
  return code !== undefined && UNREACHED.has(code);
}
