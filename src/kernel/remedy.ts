/**
 * What to do about a failure, as data. A person at a terminal, a program over HTTP and an agent over MCP can do
 * different things about the same failure, so each front words it for its own readers.
 */
export type Remedy =
  /** The same words for every reader. */
  | { readonly kind: 'advice'; readonly text: string }
  /** The message says what to do as well: any advice would repeat it. */
  | { readonly kind: 'none' }
  /** First one thing, then another. */
  | { readonly kind: 'steps'; readonly steps: readonly Remedy[] }
  | { readonly kind: 'fix-arguments'; readonly server?: string; readonly tool?: string }
  /** It was to be called as a tool that only reads, and is not one. */
  | { readonly kind: 'call-with-effects' }
  | { readonly kind: 'find-tool'; readonly server?: string; readonly listed?: boolean }
  /** A search found nothing. */
  | { readonly kind: 'search-again' }
  | { readonly kind: 'list-servers' }
  /** The official registry has no server of this name. */
  | { readonly kind: 'search-registry' }
  | { readonly kind: 'list-skills' }
  | { readonly kind: 'check-skill'; readonly skill: string }
  | { readonly kind: 'change-rule' }
  /** No rule enables the tool, and a rule with `enabled: true` disables all such tools. */
  | { readonly kind: 'add-rule' }
  | { readonly kind: 'list-pending' }
  /** Something new waits for a decision. */
  | { readonly kind: 'review'; readonly ref?: string }
  /** Something that was trusted has changed. */
  | { readonly kind: 'review-change'; readonly ref?: string }
  /** A call waits for a person's confirmation; after that it is made again. */
  | { readonly kind: 'confirm-call'; readonly id?: string }
  /** A person rejected the call. */
  | { readonly kind: 'do-not-repeat' }
  | { readonly kind: 'list-pending-calls' }
  | { readonly kind: 'undo-rejection'; readonly ref: string }
  /** The lock file alone decides, and this is not in it as it is. */
  | { readonly kind: 'accept-lock' }
  /** What is to be approved must have been looked at before. */
  | { readonly kind: 'look-first'; readonly ref: string }
  /** Of several things none was looked at before, or they changed since. */
  | { readonly kind: 'look-at-each' }
  /** What is of critical risk is approved one by one. */
  | { readonly kind: 'approve-each'; readonly server: string }
  /** The server itself does not wait, but tools of it do. */
  | { readonly kind: 'name-tools'; readonly server: string }
  | { readonly kind: 'copy-hash' }
  /** A request has expired; it is created again when the server is learned again. */
  | { readonly kind: 'renew-request'; readonly server: string }
  | { readonly kind: 'discover'; readonly server: string }
  | { readonly kind: 'sign-in'; readonly server: string; readonly again?: boolean }
  | { readonly kind: 'credentials'; readonly server?: string }
  /** Variables of the environment that a server needs. */
  | { readonly kind: 'set-variables'; readonly names: readonly string[] }
  /** The server must be looked into; `first` is what to do before that. */
  | { readonly kind: 'diagnose'; readonly first?: string }
  /** A call took too long; `limit` is what ended it where that was not the time limit of the server for one answer. */
  | { readonly kind: 'ask-for-less'; readonly limit?: 'call' | 'total' }
  | { readonly kind: 'configure'; readonly what: string }
  | { readonly kind: 'check-config' }
  | { readonly kind: 'accept-store' }
  | { readonly kind: 'state-directory' }
  | { readonly kind: 'open-files' }
  /** toolscout itself has too much to do for the moment. */
  | { readonly kind: 'overloaded' }
  /** A bug in toolscout. */
  | { readonly kind: 'report-bug' };

/** A text as a remedy: advice that reads the same for every front. */
export function toRemedy(given: Remedy | string): Remedy {
  return typeof given === 'string' ? { kind: 'advice', text: given } : given;
}

/** The kinds that have words of their own in each front. */
type Worded = Exclude<Remedy, { kind: 'advice' | 'none' | 'steps' }>;

/** How one front words each kind of remedy. */
export type RemedyWords = { readonly [K in Worded['kind']]: (remedy: Extract<Worded, { kind: K }>) => string };

/** A remedy in the words of one front; empty when the message says all there is to say. */
export function wordRemedy(remedy: Remedy, words: RemedyWords): string {
  if (remedy.kind === 'none') return '';
  if (remedy.kind === 'advice') return remedy.text;
  if (remedy.kind === 'steps') {
    return remedy.steps
      .map((step) => wordRemedy(step, words))
      .filter(Boolean)
      .join(' ');
  }
  return (words[remedy.kind] as (remedy: Worded) => string)(remedy);
}

/** A name as one word of a command line; names of servers and tools can hold anything. */
export function shellWord(name: string): string {
  return /^[\w:./@-]+$/.test(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;
}

/** The reference of a request as one word of a command line. */
export function refWord(ref: string | undefined): string {
  return ref === undefined ? 'REF' : shellWord(ref);
}

/** The time limit that ended a call, as it is named in the config or beside the call. */
export function longerLimit(limit: 'call' | 'total' | undefined): string {
  if (limit === 'call') return 'timeoutMs of this call';
  return limit === 'total'
    ? 'totalTimeoutMs of this server (limits.callTotalMs)'
    : 'timeoutMs of this server (limits.callTimeoutMs)';
}

const COMMANDS: RemedyWords = {
  'fix-arguments': ({ server, tool }) =>
    server === undefined || tool === undefined
      ? 'Fix the named arguments; toolscout inspect shows what a tool takes.'
      : `Fix the named arguments; toolscout inspect ${shellWord(`${server}:${tool}`)} shows what it takes.`,
  'call-with-effects': () => 'Call it without the option readOnly.',
  'find-tool': ({ server, listed }) => {
    const list = server === undefined ? 'toolscout tools' : `toolscout tools ${shellWord(server)}`;
    return listed
      ? `Use a tool that the server lists; ${list} names them.`
      : `Find the right name with ${list} or toolscout search.`;
  },
  'search-again': () => 'Try other words: action + object + product. toolscout servers shows what is connected.',
  'list-servers': () => 'Run toolscout servers to see the configured servers.',
  'search-registry': () => 'Find its name with toolscout registry search.',
  'list-skills': () => 'Run toolscout skills list to see the skills.',
  'check-skill': ({ skill }) =>
    `Add a capability that matches to its skill.md; toolscout skills check ${shellWord(skill)} shows what it has.`,
  'change-rule': () => 'Choose another tool, or change the rule that disables this one.',
  'add-rule': () => 'Choose another tool, or add a rule that enables this one.',
  'do-not-repeat': () => 'Do not repeat this call: a person rejected it.',
  'list-pending-calls': () => 'Run toolscout pending to see which calls wait.',
  'list-pending': () => 'Run toolscout pending to see what waits.',
  review: ({ ref }) =>
    `Look at it and decide: toolscout pending, then toolscout approve ${ref === undefined ? 'REF.' : shellWord(ref)}`,
  'review-change': ({ ref }) =>
    `Look at the change and decide: ${ref === undefined ? 'toolscout pending, ' : ''}toolscout diff ${refWord(ref)}, then toolscout approve ${ref === undefined ? 'REF.' : shellWord(ref)}`,
  'confirm-call': ({ id = 'ID' }) =>
    `Decide about it: toolscout pending, then toolscout approve ${id}; then make the same call again, with exactly the same arguments.`,
  'undo-rejection': ({ ref }) => `To undo that: toolscout diff ${refWord(ref)}, then toolscout approve ${refWord(ref)}`,
  'accept-lock': () => 'See what differs: toolscout lock --diff; to accept it: toolscout lock.',
  'look-first': ({ ref }) =>
    `Look at it with toolscout diff ${refWord(ref)}, then repeat the approval. To approve without that, add --hash HASH.`,
  'look-at-each': () => 'Look at each with toolscout diff REF, then approve again.',
  'approve-each': ({ server }) =>
    `Look at each with toolscout diff ${shellWord(server)} and approve it by name, or add --include-critical.`,
  'name-tools': ({ server }) => `Name one as ${shellWord(server)}:TOOL, or approve all with --all.`,
  'copy-hash': () => 'Copy it from toolscout pending or toolscout diff.',
  'renew-request': ({ server }) => `Run toolscout discover ${shellWord(server)}, look at it again and decide then.`,
  discover: ({ server }) => `Run toolscout discover ${shellWord(server)}.`,
  'sign-in': ({ server, again }) => `Sign in${again ? ' again' : ''}: toolscout auth login ${shellWord(server)}`,
  credentials: ({ server }) =>
    server === undefined
      ? 'Check the credentials configured for this server.'
      : `Check headers or auth of servers.${server} in the config, or sign in: toolscout auth login ${shellWord(server)}`,
  'set-variables': ({ names }) =>
    `Set ${names.length === 1 ? 'it' : 'them'}: ${names.map((name) => `toolscout secret set ${name}`).join(', ')}`,
  diagnose: ({ first }) =>
    `${first === undefined ? 'Run' : `${first}, or run`} toolscout doctor to see what is wrong with this server.`,
  'ask-for-less': ({ limit }) => `Request less data in one call, or raise ${longerLimit(limit)}.`,
  configure: ({ what }) => what,
  'check-config': () => 'Fix the named fields; toolscout config validate checks the file.',
  'accept-store': () => 'Run toolscout store status, then toolscout store accept.',
  'state-directory': () => 'Make the state directory writable, or choose another with --state-dir.',
  'open-files': () => 'Wait a moment and try again; give the process more open files (ulimit -n).',
  overloaded: () => 'Wait a moment and try again, or raise the limits under overload in the config (docs/overload.md).',
  'report-bug': () =>
    'This is a bug in toolscout; please report it with this message and the version (toolscout --version).',
};

/** A remedy for a person at a terminal; also what the library and the log say. */
export function describeRemedy(remedy: Remedy): string {
  return wordRemedy(remedy, COMMANDS);
}

/** The same remedy with every text in it passed through `change`. */
export function mapRemedy(remedy: Remedy, change: (text: string) => string): Remedy {
  if (remedy.kind === 'steps') return { kind: 'steps', steps: remedy.steps.map((step) => mapRemedy(step, change)) };
  const entries = Object.entries(remedy).map(([key, value]) => [
    key,
    key !== 'kind' && typeof value === 'string' ? change(value) : value,
  ]);
  return Object.fromEntries(entries) as Remedy;
}
