import { longerLimit, refWord, shellWord, wordRemedy, type Remedy, type RemedyWords } from '../../../kernel/remedy.js';
import { failureText, type Failure } from '../../../model/call.js';

/** What an agent has of toolscout: the meta-tools, those of the mode `code`, or nothing but tools of servers by their own names. */
export type AgentMenu = 'meta' | 'code' | 'direct';

/** An agent has the meta-tools and a user; it cannot edit files of this machine or run commands. */
const META: RemedyWords = {
  'fix-arguments': () => 'Fix the named arguments; get_tool_details shows the schema.',
  'call-with-effects': () => 'Use execute_tool for it.',
  'find-tool': ({ listed }) =>
    listed
      ? 'Use a tool that the server lists; list_tools names them.'
      : 'Use search_tools or list_tools to find the right name.',
  'search-again': () => 'Try other words (action + object + product), or list_mcp_servers.',
  'list-servers': () => 'Use list_mcp_servers to see the configured servers.',
  'search-registry': () => 'Ask the user to find its name: toolscout registry search',
  'list-skills': () => 'Ask the user which skills there are.',
  'check-skill': () => 'Use another tool: the skill does not declare this capability. The user can add it.',
  'change-rule': () => 'Choose another tool; the user disabled this one with a rule.',
  'add-rule': () => 'Choose another tool; the user can add a rule that enables this one.',
  'do-not-repeat': () => 'Do not repeat this call; ask the user what to do instead.',
  'list-pending-calls': () => 'Ask the user to decide about the calls that wait: toolscout pending',
  'list-pending': () => 'Ask the user what waits for approval: toolscout pending',
  review: ({ ref }) =>
    `Ask the user to look at it and to decide: toolscout pending, then toolscout approve ${refWord(ref)}`,
  'review-change': ({ ref }) =>
    `Ask the user to look at the change and to decide: ${ref === undefined ? 'toolscout pending, ' : ''}toolscout diff ${refWord(ref)}, then toolscout approve ${refWord(ref)}`,
  'confirm-call': ({ id }) =>
    `Ask the user to confirm it${id === undefined ? '' : `: toolscout approve ${id}`}. When they have confirmed, make the same call again with exactly the same arguments.`,
  'undo-rejection': ({ ref }) =>
    `Use another tool. The user can undo that: toolscout diff ${refWord(ref)}, then toolscout approve ${refWord(ref)}`,
  'accept-lock': () => 'Use another tool. The user can look at what differs and accept it with toolscout lock.',
  'look-first': ({ ref }) => `Ask the user to look at it first: toolscout diff ${refWord(ref)}`,
  'look-at-each': () => 'Ask the user to look at each and to decide: toolscout diff REF',
  'approve-each': ({ server }) => `Ask the user to look at each and to decide: toolscout diff ${shellWord(server)}`,
  'name-tools': ({ server }) => `Name one as ${server}:TOOL.`,
  'copy-hash': () => 'Use the hash that the list of requests shows.',
  'renew-request': ({ server }) => `Use list_tools with the server "${server}", then ask the user to decide.`,
  discover: ({ server }) => `Use list_tools with the server "${server}" in a moment.`,
  'sign-in': ({ server, again }) =>
    `Ask the user to sign in${again ? ' again' : ''}: toolscout auth login ${shellWord(server)}`,
  credentials: () => 'Ask the user to check the credentials of this server.',
  'set-variables': ({ names }) =>
    `Ask the user to set ${names.length === 1 ? 'it' : 'them'}: ${names.map((name) => `toolscout secret set ${name}`).join(', ')}`,
  diagnose: ({ first = 'Use another server' }) => `${first}, or ask the user to run toolscout doctor.`,
  'ask-for-less': ({ limit }) =>
    limit === 'call'
      ? `Request less data in one call, or raise ${longerLimit(limit)}.`
      : `Request less data in one call. The user can raise ${longerLimit(limit)}.`,
  configure: ({ what }) => `Ask the user to do this: ${what}`,
  'check-config': () => 'Ask the user to fix the configuration: toolscout config validate',
  'accept-store': () => 'Ask the user to look at the store: toolscout store status',
  'state-directory': () => 'Ask the user to make the state directory of toolscout writable.',
  'open-files': () => 'Wait a moment and try again.',
  overloaded: () => 'Wait as long as retryAfterMs says, then make the same call again; it did not run.',
  'report-bug': () => 'This is a bug in toolscout; ask the user to report it with this message.',
};

/** Without `list_tools`, `list_mcp_servers` and `execute_tool`. */
const CODE: RemedyWords = {
  ...META,
  'call-with-effects': () => 'Scripts may only read here; the user can change that with scripts.allow.',
  'find-tool': () => 'Use search_tools to find the right name.',
  'search-again': () => 'Try other words (action + object + product).',
  'list-servers': () => 'Use search_tools to find a server that is configured.',
  'renew-request': ({ server }) =>
    `Ask the user to look at it again and to decide: toolscout discover ${shellWord(server)}`,
  discover: () => 'Try again in a moment.',
};

/** Without any tool of toolscout. */
const DIRECT: RemedyWords = {
  ...CODE,
  'fix-arguments': () => 'Fix the named arguments; the definition of the tool has the schema.',
  'call-with-effects': () => 'Use another tool: this one may change something.',
  'find-tool': () => 'Use a tool of your list of tools.',
  'list-servers': () => 'Ask the user which servers are configured: toolscout servers',
};

const WORDS: Readonly<Record<AgentMenu, RemedyWords>> = { meta: META, code: CODE, direct: DIRECT };

/** A remedy for an agent. */
export function adviseAgent(remedy: Remedy, menu: AgentMenu = 'meta'): string {
  return wordRemedy(remedy, WORDS[menu]);
}

/** A failure as an agent with the meta-tools reads it: what it is answered, and what such a call costs. */
export function agentFailureText(failure: Failure): string {
  return failureText({ ...failure, suggestion: adviseAgent(failure.remedy) });
}

/** The same for an agent that sees no tool of toolscout. */
export function directFailureText(failure: Failure): string {
  return failureText({ ...failure, suggestion: adviseAgent(failure.remedy, 'direct') });
}
