import type { DocumentedOperation } from '../route.js';

/** What the operations of a group have in common; each group is a tag of the document. */
export const GROUPS: Readonly<Record<DocumentedOperation['group'], string>> = {
  registry: 'The servers of the inventory and their health, checked in the background.',
  tools: 'The configured servers and their tools: list, search, details.',
  calls: 'Running a tool. Every call passes rules, approvals, argument validation, rate limit and circuit breaker.',
  skills: 'What a skill declared, what it was granted, and calls on its behalf.',
  admin: 'What an operator does: approvals, registered servers, the audit log, events and the config.',
  publish: 'How this toolscout describes itself to clients and registries.',
  studio: 'The web page, signing in to it, and what only it shows.',
  status: 'Health checks, measurements and this document.',
  mcp: 'The Model Context Protocol over Streamable HTTP, for hosts of both eras.',
};

const CARD =
  'The server card of the MCP specification: name, version, transport and capabilities. Names no server behind it.';
const RESOURCE =
  'Protected resource metadata (RFC 9728): the authorization servers that are accepted and the scopes there are.';
const MESSAGE =
  'Takes one JSON-RPC message. A request is answered with JSON or, when there is progress or a question before the answer, with a stream of events.';

/** What an operation does, beyond its summary. */
const OPERATIONS: Readonly<Record<string, string>> = {
  listRegistry:
    'Lists every server of the inventory with its health. `registry_hash` is the same for the same servers in the same health; send it as `If-None-Match` to get 304 while nothing changed.',
  listServers:
    'Lists the configured servers with their state, the number of their tools and why a server cannot be used. Starts no server.',
  registerServer:
    'Proposes a server by URL or command. It is pending: nothing is started until an administrator approves it.',
  listServerTools: 'Lists the tools of one server. A server that was never asked is started and asked now.',
  searchTools:
    'Ranks the tools of all servers for a need in plain words, such as "create an issue". `learning` and `unavailable` name servers that could not be searched yet.',
  listHeldTools:
    'Lists the tools that are disabled by a rule, or wait for approval, each with the sentence of `GET /v1/why`. Tools that wait are found by their name alone.',
  previewSearch:
    'Makes the same search as an agent that calls `search_tools`, and answers with the text that the agent gets and an estimate of its tokens.',
  showTool: 'Shows the definition of a tool as its server gave it, its status, tags, domains and categories.',
  whyTool: 'Says in one sentence why a tool is or is not offered to the caller. Starts no server.',
  callTool:
    'Runs one tool and answers with the own result of its server. With `Accept: text/event-stream` events of progress come before the result. A failed call is a problem that names the server and the tool.',
  runScript:
    'Runs a script: the body of an async JavaScript function that calls tools as `tools.SERVER.TOOL({…})`. Every call passes the same checks as a single one. Needs `scripts: true` in the config.',
  listSkills: 'Lists the skills of the configured folders with their state: READY, DEGRADED or UNAVAILABLE.',
  skillBindings:
    'Shows which server serves each capability that a skill declared, and which capabilities are missing and why.',
  callAsSkill: 'Runs a tool for a skill. A capability that the skill did not declare or was not granted is refused.',
  followEvents:
    'Streams what happens: states of servers, learned lists, approvals, reloads, and `calls` when tools were called, at most once a second. A comment every 15 seconds keeps the connection open.',
  listAudit:
    'Lists audit records, newest first. With `Accept: text/event-stream` it follows the log; `since` and `limit` then give the past first.',
  showConfig: 'Shows the configuration in force. Values of variables, headers and keys are never in it.',
  reloadConfig:
    'Reads the config file again and takes it over when it is valid. Servers whose transport did not change keep their connection.',
  listApprovals:
    'Lists approval requests with their state, risk and hash. The hash names exactly what would be approved.',
  diffApproval: 'Shows what approving a request would change compared with what is trusted now.',
  approveApproval:
    'Approves what is asked for, exactly as it was shown. Send `hash` to refuse anything that changed since you looked.',
  rejectApproval: 'Rejects what is asked for. Without an open request it takes back the trust in the server.',
  listMarketplace: 'Lists the manifests of all approved tools.',
  introspectServer:
    'Asks a URL, or a registered server that is not approved, for its tools and makes an approval request. Calls no tool.',
  unregisterServer: 'Removes a server that was registered over the API, with its exported files and the trust in it.',
  studio: 'The page that is served at the root. It is static: everything it shows comes from this API.',
  studioFile: 'Scripts, styles and images of the page. A name with a hash in it never changes its content.',
  showSession:
    'Says who sends this request, by cookie, key or token, and which ways to sign in there are. Without `http.auth` no sign-in is needed on this machine.',
  signIn:
    'Opens a session and sets its cookie (HttpOnly, SameSite=Strict). It ends after 12 hours, after an hour without a request, when its key is removed, and when it is signed out.',
  signOut: 'Ends the session of the cookie at once, in all processes over the same store. Needs `X-Toolscout-Csrf`.',
  startSignIn:
    'Sends the browser to the issuer of `http.auth.oauth` (authorization code with PKCE). Needs `http.auth.oauth.clientId`.',
  finishSignIn: 'Takes the code of the issuer, opens a session, sets its cookie and sends the browser to the page.',
  showOverview:
    'Counts servers by what is known of them, tools by status and calls by hour, compares the tokens of the menu with those of every tool, and names what needs attention with the request that mends it.',
  showServer:
    'Shows one server: state, latency over time, last error and what to do about it, the end of its stderr and the sign-in. Starts no server.',
  connectServer: 'Connects to a server now and keeps the connection for calls.',
  disconnectServer: 'Closes the connections to a server after their calls; the next call connects again.',
  discoverServer: 'Asks a server for its tools again.',
  signInServer:
    'Begins to sign in to a remote server and answers the address to open in a browser. `GET /v1/servers/{id}` tells when it is done. With `redirected` it takes the address at which a browser of another machine ended.',
  showConfigFile:
    'Shows the config file as it is written, comments included. `TOOLSCOUT_SECRET_…` stands for each credential; a change may hold these placeholders, and the credential is written in their place.',
  planConfig:
    'Makes the change in the text of the file, keeping comments and order, checks the result and answers both texts, their difference, what is wrong and the exact commands that would be run. `plan` names exactly this.',
  applyConfig:
    'Writes the change when the file is still what the plan saw, then reloads. The audit log has `config-edit`.',
  enableServer: 'Sets `enabled` of a server that stands in the config file, and reloads.',
  disableServer: 'Sets `enabled` of a server that stands in the config file, and reloads.',
  previewRules: 'Applies rules to the known tools and compares the outcome with the rules in force.',
  listImports: 'Reads the config files of other clients on this machine and plans to import everything that is new.',
  importServers:
    'Answers what an import from these clients would write. With the `plan` of that answer it writes it and reloads.',
  searchRegistry:
    'Searches the official registry, or the one of the config, and says how each server would be launched.',
  planRegistryServer:
    'Answers the entry that would stand in the config, the exact command, and which inputs are still missing. Add it with `POST /v1/config/plan`.',
  answerAsk:
    'Answers an event `ask` of `POST /v1/call` with `ask: true`: `{answer}` has the result that MCP defines for the question, `{refusal}` says no. Only the caller of the call may answer, and only in the process that runs it.',
  followTraffic:
    'Streams one row for each request of a host with everything it led to: requests to servers, questions back, progress, waits and retries, with times, bytes, tokens and redacted payloads. Payloads are recorded while this stream is open, or as many rows as `traffic.keep` says. A caller who may see only some servers gets rows about these alone.',
  addLabel:
    'Says which tool a query was meant to find. The line is appended to `labels.jsonl` in the state directory; measure the ranking with `toolscout eval`.',
  listLabels: 'Lists the labelled queries of this state directory and names their file.',
  listSavedCalls: 'Lists the calls that the caller has saved, with their arguments. No other caller gets them.',
  saveCalls: 'Saves one call, or with `calls` all calls of an export. At most 200 are kept for each caller.',
  removeSavedCall: 'Removes one saved call of the caller.',
  aiCatalog: 'Names the address of the server card, for clients that look for it at the well-known place.',
  serverCard: CARD,
  serverCardJson: CARD,
  serverCardBare: CARD,
  serverCardOld: CARD,
  wellKnown:
    'A short description for gateways that look for servers: name, version, capabilities and the MCP endpoint.',
  wellKnownJson:
    'A short description for gateways that look for servers: name, version, capabilities and the MCP endpoint.',
  protectedResource: RESOURCE,
  protectedResourceMcp: RESOURCE,
  protectedResourceServer: RESOURCE,
  listPublished:
    'Lists the approved servers in the format of the official MCP registry, so that clients can browse them.',
  listPublishedVersions: 'Lists the versions of one approved server in the format of the official MCP registry.',
  showPublished: 'Shows one version of an approved server in the format of the official MCP registry.',
  health:
    'Answers 200 while the process works. Answers under any Host; under one that is not allowed with the status alone.',
  ready:
    'Answers how many servers are known, being learned or failed. Answers under any Host; under one that is not allowed with the status alone.',
  metrics: 'Counters, histograms and gauges in the text format of Prometheus, those of the process included.',
  openApi: 'The OpenAPI 3.1 document of this API, made from the definitions that answer and check requests.',
  mcp: MESSAGE,
  mcpServer: `${MESSAGE} The server named in the path is passed through under its own names.`,
  mcpEvents: 'Streams what servers send to a 2025-era session outside of any request.',
  mcpServerEvents: 'Streams what one server sends to a 2025-era session outside of any request.',
  mcpEnd: 'Ends a 2025-era session and cancels what runs in it.',
  mcpServerEnd: 'Ends a 2025-era session with one server and cancels what runs in it.',
};

const sentence = (text: string): string => (/[.!?]$/.test(text) ? text : `${text}.`);

/** What an operation does and who may ask for it. */
export function describeOperation({ id, summary, scope, cors }: DocumentedOperation): string {
  return [
    sentence(OPERATIONS[id] ?? summary),
    scope === undefined ? 'Needs no key.' : `Needs the scope \`${scope}\` where keys are configured.`,
    ...(cors ? ['Pages of any origin may read it where keys are configured.'] : []),
  ].join(' ');
}
