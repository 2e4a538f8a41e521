import { ERROR_TABLE, type ErrorCode } from '../../kernel/errors.js';

/** What a person at a command line does where an agent is told to call a meta-tool, or to ask somebody. */
const COMMANDS: Partial<Record<ErrorCode, string>> = {
  TOOL_VALIDATION_ERROR: 'Fix the named arguments; toolscout inspect SERVER TOOL shows what it takes.',
  TOOL_NOT_FOUND: 'Run toolscout tools SERVER or toolscout search to find the right name.',
  SERVER_NOT_FOUND: 'Run toolscout servers to see the configured servers.',
  APPROVAL_REQUIRED: 'Look at it and decide: toolscout pending, toolscout approve.',
  TOOL_CHANGED: 'Look at the change and decide: toolscout diff.',
};

/** The same for advice of ours that is more exact than the table: how it begins for an agent, and for a person. */
const BEGINNINGS: ReadonlyArray<readonly [agent: string, person: string]> = [
  ['Ask the user to look at it and to decide: ', 'Look at it and decide: '],
  ['Ask the user to look at the change and to decide: ', 'Look at the change and decide: '],
  [
    'Use a tool that the server lists; list_tools names',
    'Use a tool that the server lists; toolscout tools SERVER names',
  ],
];

/** What to do about a failure, for the reader of a command line; what a server suggests stays as it is. */
export function adviceFor({ code, suggestion }: { readonly code: ErrorCode; readonly suggestion: string }): string {
  if (suggestion === ERROR_TABLE[code].suggestion) return COMMANDS[code] ?? suggestion;
  const [agent, person] = BEGINNINGS.find(([beginning]) => suggestion.startsWith(beginning)) ?? ['', ''];
  return person + suggestion.slice(agent.length);
}
