import { splitWords } from './words.js';

/** Words of a server's name → its domain; the first row with a matching word wins (SCH-4). */
const DOMAINS: ReadonlyArray<readonly [words: readonly string[], domain: string]> = [
  [['github', 'gh'], 'github'],
  [['slack'], 'slack'],
  [['discord'], 'discord'],
  [['jira'], 'jira'],
  [['confluence'], 'confluence'],
  [['notion'], 'notion'],
  [['linear'], 'linear'],
  [['aws', 'amazon', 's3'], 'cloud.aws'],
  [['gcp', 'google'], 'cloud.gcp'],
  [['azure'], 'cloud.azure'],
  [['postgres', 'mysql', 'sqlite', 'database', 'db'], 'database'],
  [['file', 'filesystem', 'fs'], 'filesystem'],
  [['http', 'fetch', 'web'], 'web'],
  [['email', 'mail', 'smtp', 'gmail'], 'email'],
  [['calendar', 'gcal'], 'calendar'],
];

const SUFFIX = /[-_](?:mcp[-_]server|server|mcp|bot|api)$/;

const GENERIC: ReadonlySet<string> = new Set(['mcp', 'server', 'mcp-server', 'mcp_server', 'api', 'bot']);

const MAX_LENGTH = 256;

/** The verbs a tool's name may begin with (SCH-5). */
const VERBS: ReadonlySet<string> = new Set(
  'list get create add update edit delete remove search find read write send post fetch download upload'.split(' '),
);

/** Where the noun ends: `get_user_by_id` is about users. */
const PREPOSITIONS: ReadonlySet<string> = new Set('by for from in into of on to with at as via using'.split(' '));

const FILLERS: ReadonlySet<string> = new Set(['a', 'an', 'the', 'all']);

const NOUNS: ReadonlyMap<string, string> = new Map([
  ['pr', 'pull_requests'],
  ['prs', 'pull_requests'],
  ['pull_request', 'pull_requests'],
  ['mr', 'merge_requests'],
  ['repo', 'repos'],
  ['repository', 'repos'],
  ['repositories', 'repos'],
  ['dir', 'directories'],
  ['dirs', 'directories'],
  ['directory', 'directories'],
  ['folder', 'directories'],
  ['folders', 'directories'],
  ['msg', 'messages'],
  ['msgs', 'messages'],
  ['message', 'messages'],
  ['db', 'databases'],
  ['person', 'people'],
  ['child', 'children'],
  ['index', 'indexes'],
]);

const UNCOUNTABLE: ReadonlySet<string> = new Set(
  'code data info information metadata content text media news help history usage access me people children analytics'.split(
    ' ',
  ),
);

/** The plural of an English noun, well enough for a name. */
function pluralise(noun: string): string {
  if (UNCOUNTABLE.has(noun) || !/[a-z]$/.test(noun)) return noun;
  if (/(?:ss|us|is|x|z|ch|sh)$/.test(noun)) return noun.endsWith('is') ? `${noun.slice(0, -2)}es` : `${noun}es`;
  if (noun.endsWith('s')) return noun;
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return `${noun}s`;
}

function isVersion(word: string): boolean {
  return /^v\d+$/.test(word);
}

/** The server's name as it is read for its domain: without scope and without what every server is called. */
function cleanName(server: string): string {
  const lower = server.slice(-MAX_LENGTH).toLowerCase();
  const parts = lower.split('/');
  let name = parts.pop()!;
  // `@azure/mcp`: only the scope says what it is.
  if (GENERIC.has(name) && parts.at(-1)) name = parts.pop()!.replace(/^@/, '');
  for (;;) {
    const shorter = name.replace(SUFFIX, '');
    if (shorter === name || shorter === '') return name;
    name = shorter;
  }
}

/** What a server is about, from its name: `modelcontextprotocol/github` → `github` (SCH-4). */
export function primaryDomain(server: string): string {
  const name = cleanName(server);
  const words = new Set(name.split(/[^\p{L}\p{N}]+/u));
  for (const [names, domain] of DOMAINS) if (names.some((word) => words.has(word))) return domain;
  return name.replace(/[-_.]+/g, '.').replace(/^\.|\.$/g, '') || 'other';
}

/** The noun of a tool's name in the plural, or `undefined` when the name begins with no known verb (SCH-5). */
export function extractSubDomain(tool: string, server = ''): string | undefined {
  let words = splitWords(tool);
  // `slack_post_message` on slack: the product's own name says nothing.
  if (server !== '' && words.length > 2 && splitWords(cleanName(server)).includes(words[0]!)) words = words.slice(1);
  if (!VERBS.has(words[0] ?? '')) return undefined;
  const rest = words.slice(1).filter((word) => !FILLERS.has(word) && !isVersion(word));
  const end = rest.findIndex((word) => PREPOSITIONS.has(word));
  const noun = end > 0 ? rest.slice(0, end) : rest;
  if (noun.length > 1 && noun.at(-1) === 'tool') noun.pop();
  if (noun.length === 0) return undefined;
  const whole = NOUNS.get(noun.join('_'));
  if (whole) return whole;
  const last = noun.at(-1)!;
  return [...noun.slice(0, -1), NOUNS.get(last) ?? pluralise(last)].join('_');
}

/** The domains of a tool: `inferDomains('github', 'list_issues')` → `['github', 'github.issues']`. */
export function inferDomains(server: string, tool: string): string[] {
  const primary = primaryDomain(server);
  const sub = extractSubDomain(tool, server);
  return sub === undefined ? [primary] : [primary, `${primary}.${sub}`];
}

const CATEGORIES: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      ['list get read fetch download', ['crud.read']],
      ['search find', ['crud.read', 'search']],
      ['create add new post', ['crud.create']],
      ['update edit modify patch write set put change', ['crud.update']],
      ['delete remove drop', ['crud.delete']],
      ['notify send alert broadcast', ['notify']],
      ['transform convert format translate', ['transform']],
      ['validate verify check lint', ['validate']],
      ['upload', ['upload']],
    ] as const
  ).flatMap(([verbs, categories]) => verbs.split(' ').map((verb) => [verb, categories] as const)),
);

/** Verbs that are as often nouns: in the middle of a name any other verb is trusted more. */
const AMBIGUOUS: ReadonlySet<string> = new Set(
  'post new update patch search change alert format check set download upload drop'.split(' '),
);

/**
 * What kind of act a tool is, from its name (SCH-6). The first word decides when it is a verb, else
 * the clearest verb after it: `get_post` reads, and so does `blog_post_list`. Verbs joined by `or` or
 * `and` all count.
 */
export function inferCategories(tool: string): string[] {
  const words = splitWords(tool).filter((word) => !isVersion(word));
  const isVerb = (word: string): boolean => CATEGORIES.has(word);
  const isClear = (word: string): boolean => isVerb(word) && !AMBIGUOUS.has(word);
  let at = words.slice(0, 1).findIndex(isVerb);
  if (at < 0) at = words.findIndex(isClear);
  if (at < 0) at = words.findLastIndex(isVerb);
  const found = new Set(CATEGORIES.get(words[at] ?? ''));
  if (found.size === 0) return ['other'];
  for (let i = at + 1; i + 1 < words.length && (words[i] === 'or' || words[i] === 'and'); i += 2) {
    for (const category of CATEGORIES.get(words[i + 1]!) ?? []) found.add(category);
  }
  return [...found];
}
