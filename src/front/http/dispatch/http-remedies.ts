import { longerLimit, shellWord, wordRemedy, type Remedy, type RemedyWords } from '../../../kernel/remedy.js';

const segment = (name: string | undefined, placeholder: string): string =>
  name === undefined ? placeholder : encodeURIComponent(name);

/** A program over HTTP has the routes of the API; everything else is for the person who operates toolscout. */
const WORDS: RemedyWords = {
  'fix-arguments': ({ server, tool }) =>
    `Fix the named arguments; GET /v1/tools/${segment(server, '{server}')}/${segment(tool, '{tool}')} has the schema.`,
  'call-with-effects': () => 'Call it without readOnly.',
  'find-tool': ({ server, listed }) =>
    listed
      ? `Use a tool that the server lists; GET /v1/servers/${segment(server, '{id}')}/tools names them.`
      : `Find the name with GET /v1/search or GET /v1/servers/${segment(server, '{id}')}/tools.`,
  'search-again': () => 'Try other words: action + object + product. GET /v1/servers lists the servers.',
  'list-servers': () => 'GET /v1/servers lists the configured servers.',
  'search-registry': () => 'Find its name with GET /v1/registry/search.',
  'list-skills': () => 'GET /v1/skills lists the skills.',
  'check-skill': ({ skill }) =>
    `Add a capability that matches to its skill.md; GET /v1/skills shows what "${skill}" has.`,
  'change-rule': () => 'Choose another tool, or have the rule changed that disables this one.',
  'add-rule': () => 'Choose another tool, or have a rule added that enables this one.',
  'do-not-repeat': () => 'Do not repeat this call: a person rejected it.',
  'list-pending-calls': () => 'GET /v1/pending-calls lists the calls that wait.',
  'list-pending': () => 'GET /v1/approvals lists what waits.',
  review: ({ ref }) =>
    `An administrator decides about it: GET /v1/approvals, then POST /v1/approvals/${segment(ref, '{ref}')}/approve.`,
  'review-change': ({ ref }) =>
    `An administrator decides about the change: GET /v1/approvals/${segment(ref, '{ref}')}/diff, then POST /v1/approvals/${segment(ref, '{ref}')}/approve.`,
  'confirm-call': ({ id = '{id}' }) =>
    `An administrator decides about it: GET /v1/pending-calls, then POST /v1/pending-calls/${id}/approve; then send the same call again.`,
  'undo-rejection': ({ ref }) =>
    `An administrator can undo that: GET /v1/approvals/${segment(ref, '{ref}')}/diff, then POST /v1/approvals/${segment(ref, '{ref}')}/approve.`,
  'accept-lock': () =>
    'The operator can see what differs with toolscout lock --diff, and accept it with toolscout lock.',
  'look-first': ({ ref }) =>
    `GET /v1/approvals/${segment(ref, '{ref}')}/diff first; then approve it, or send its hash.`,
  'look-at-each': () => 'GET /v1/approvals/{ref}/diff for each, then approve again.',
  'approve-each': () => 'GET /v1/approvals/{ref}/diff for each and approve it by name, or send includeCritical.',
  'name-tools': ({ server }) => `Name one as ${server}:TOOL, or send all.`,
  'copy-hash': () => 'Use the hash of GET /v1/approvals.',
  'renew-request': ({ server }) =>
    `POST /v1/servers/${segment(server, '{id}')}/discover, look at it again and decide then.`,
  discover: ({ server }) => `Ask again in a moment; GET /v1/servers shows how far "${server}" is.`,
  'sign-in': ({ server }) => `The operator must sign in to "${server}": toolscout auth login ${shellWord(server)}`,
  credentials: () => 'The operator must check the credentials of this server.',
  'set-variables': ({ names }) => `The operator must set ${names.join(', ')}.`,
  diagnose: ({ first }) => `${first === undefined ? '' : `${first}. `}GET /v1/servers shows the state of the server.`,
  'ask-for-less': ({ limit }) =>
    limit === 'call'
      ? `Request less data in one call, or raise ${longerLimit(limit)}.`
      : `Request less data in one call, or have the operator raise ${longerLimit(limit)}.`,
  configure: ({ what }) => `The operator must do this: ${what}`,
  'check-config': () => 'Fix the named fields of the configuration, then POST /v1/config/reload.',
  'accept-store': () => 'An administrator accepts the store: POST /v1/store/accept.',
  'state-directory': () => 'The operator must make the state directory writable.',
  'open-files': () => 'Wait a moment and try again.',
  overloaded: () => 'Wait as long as Retry-After says, then send the same call again; it did not run.',
  'report-bug': () => 'This is a bug in toolscout; please report it with the trace id.',
};

/** A remedy for a program over HTTP. */
export function adviseHttp(remedy: Remedy): string {
  return wordRemedy(remedy, WORDS);
}
