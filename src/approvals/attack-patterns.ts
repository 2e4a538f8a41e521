import { LOOK_ALIKES } from '../kernel/look-alikes.js';
/** A sign that a text was written to steer a model, and whether that alone is reason enough to hold it back. */
export interface Sign {
  readonly reason: string;
  /** Nothing that real servers write: what shows it is not trusted unseen (A11). */
  readonly isHard: boolean;
}

/** Characters that change the direction of text, tags, private use, and further variation selectors: seen by a model alone. */
const SMUGGLED = /[\u061c\u202a-\u202e\u2066-\u2069\ue000-\uf8ff]|[\u{e0000}-\u{e0fff}]|[\u{f0000}-\u{10fffd}]/u;

/** Characters without a shape. One slips into honest text by copying, and joins emoji and letters; a run of them says something. */
const SHAPELESS = /[\ufe00-\ufe0f\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff]/g;
const SHAPELESS_RUN = /[\ufe00-\ufe0f\u00ad\u180e\u200b-\u200f\u2060-\u2064\u206a-\u206f\ufeff]{3}/;
/** What joins or varies a visible character is not counted. */
const ZERO_WIDTH = /[\u180e\u200b\u200e\u200f\u2060-\u2064\u206a-\u206f\ufeff]/;

/** Control characters other than tab and line ends; they can rewrite what a terminal shows. */
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Texts that speak to a model and not about a tool. Compared in lower case with single spaces. */
const ORDERS = [
  'ignore the above',
  'before using this tool, read',
  'you must first read',
  'system prompt',
  'system override',
  'admin override',
  'developer mode',
  'jailbreak',
  'you are now ',
  'new instructions:',
  '<important>',
  '<system>',
  '<secret>',
  '<hidden>',
  '<critical>',
  '<admin>',
  '<|im_start|>',
  '<|system|>',
  '<<sys>>',
  '[inst]',
  '[system]',
  '### system',
  '### instruction',
];

/** Places where secrets lie. */
const SECRET_PLACES = [
  '.ssh/',
  'id_rsa',
  'id_ed25519',
  '.aws/credentials',
  '.git-credentials',
  '.netrc',
  '.npmrc',
  '.kube/config',
  '/etc/passwd',
  '/etc/shadow',
  '.gnupg',
  'mcp.json',
  'claude_desktop_config',
  '.bash_history',
  '.env file',
];

/** What makes naming such a place an order to carry it somewhere. */
const CARRIED = new Set(
  'read cat open load content contents send include pass attach upload forward append copy paste put exfiltrate'.split(
    ' ',
  ),
);
/** Words around a place that are looked at. */
const AROUND = 24;

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Words that give an order when one of each group stands close together. */
const COMPANIES: ReadonlyArray<{
  readonly reason: string;
  readonly within: number;
  /** The groups follow each other; else they may come in any order. */
  readonly isOrdered?: boolean;
  readonly groups: ReadonlyArray<ReadonlySet<string>>;
}> = [
  {
    reason: 'tells a model to ignore its instructions',
    within: 8,
    groups: [
      words('ignore disregard forget override overrides bypass discard neglect'),
      words('previous prior above earlier preceding all any other your system safety original'),
      words(
        'instruction instructions prompt prompts rule rules guideline guidelines directive directives constraints guardrails safeguards',
      ),
    ],
  },
  {
    reason: 'tells a model to keep something from the user',
    within: 10,
    isOrdered: true,
    groups: [
      words('not never without don dont avoid nor'),
      words(
        'tell telling inform informing mention mentioning reveal revealing notify notifying alert alerting disclose disclosing',
      ),
      words('user users human humans'),
    ],
  },
  {
    reason: 'tells a model to keep something from the user',
    within: 8,
    groups: [
      words('hide conceal hidden secret invisible unaware'),
      words('from to of'),
      words('user human'),
      words('must should always do keep'),
    ],
  },
  {
    reason: 'tells a model to act in secret',
    within: 6,
    groups: [
      words('secretly silently covertly surreptitiously quietly discreetly stealthily'),
      words(
        'send sends read copy forward upload include call pass attach append post execute invoke collect transmit exfiltrate bcc',
      ),
    ],
  },
  {
    reason: 'asks a model for the whole conversation',
    within: 10,
    groups: [
      words('send include pass append forward copy attach upload share dump transmit paste put'),
      words('entire full complete whole all verbatim previous'),
      words('conversation conversations transcript chat'),
      words('history conversation conversations transcript messages context'),
    ],
  },
  {
    reason: 'tells a model to send things elsewhere',
    within: 12,
    groups: [
      words('always must silently secretly also additionally regardless every'),
      words('bcc cc forward copy send redirect mirror post upload transmit exfiltrate'),
      words('@mail @web'),
      words(
        'email emails message messages content contents data copy result results response output file files recipient',
      ),
    ],
  },
];

type Membership = readonly [company: number, group: number];

/** Which company and group each word belongs to. */
const MEMBERS: ReadonlyMap<string, readonly Membership[]> = (() => {
  const members = new Map<string, Membership[]>();
  for (const [company, { groups }] of COMPANIES.entries()) {
    for (const [group, names] of groups.entries()) {
      for (const word of names) members.set(word, [...(members.get(word) ?? []), [company, group]]);
    }
  }
  return members;
})();

/** Words, and a mark for each address; every repetition is bounded. */
const TOKEN = /[\w.+-]{1,64}@[\w-]{1,64}\.\w{2,16}|https?:\/\/|[\p{L}\p{N}]{1,64}/gu;

function tokenOf(text: string): string {
  if (text.includes('@')) return '@mail';
  return text.includes('://') ? '@web' : text;
}

/** Most texts of a schema are single words, in which no order fits. */
const MIN_ORDER = 6;

/** The text as it reads: without what has no shape, letters in their plain form, single spaces. */
function readable(text: string): string {
  // oxlint-disable-next-line no-control-regex
  if (!/[^\u0000-\u007f]/.test(text)) return text.toLowerCase().replace(/\s+/g, ' ');
  const plain = text.replace(SHAPELESS, '').normalize('NFKC').toLowerCase().replace(/\s+/g, ' ');
  return plain.replace(/[\u0131-\u058f]/g, (letter) => LOOK_ALIKES.get(letter) ?? letter);
}

/** Companies whose groups all stand close together somewhere; one pass over the words. */
function findCompanies(plain: string): string[] {
  const tokens = Array.from(plain.matchAll(TOKEN), ([token]) => tokenOf(token));
  const last = COMPANIES.map(({ groups }) => groups.map(() => -Infinity));
  const found = new Set<string>();
  for (const [at, token] of tokens.entries()) {
    for (const [company, group] of MEMBERS.get(token) ?? []) {
      const seen = last[company]!;
      seen[group] = at;
      const { within, reason, isOrdered } = COMPANIES[company]!;
      if (at - Math.min(...seen) >= within) continue;
      if (!isOrdered || seen.every((place, index) => index === 0 || place > seen[index - 1]!)) found.add(reason);
    }
  }
  return [...found];
}

/** Whether what stands around a place speaks of carrying away what is there. */
function isCarried(plain: string, place: string): boolean {
  const at = plain.indexOf(place);
  const before = plain.slice(Math.max(0, at - 400), at).match(TOKEN) ?? [];
  const after = plain.slice(at, at + 400).match(TOKEN) ?? [];
  return [...before.slice(-AROUND), ...after.slice(0, AROUND)].some((word) => CARRIED.has(word));
}

function findCharacters(text: string): Sign[] {
  const found: Sign[] = [];
  const isSmuggling = SMUGGLED.test(text) || SHAPELESS_RUN.test(text);
  if (isSmuggling || ZERO_WIDTH.test(text)) {
    found.push({ reason: 'contains invisible characters', isHard: isSmuggling });
  }
  if (CONTROL.test(text)) found.push({ reason: 'contains control characters', isHard: true });
  return found;
}

/** The signs in texts that stand beside each other, the same each time, in a time that grows with their length alone. */
export function findSigns(texts: readonly string[]): Sign[] {
  const found = findCharacters(texts.join('\n'));
  // Each for itself: words of one text and words of its neighbour give no order together.
  for (const text of texts) {
    if (text.length < MIN_ORDER) continue;
    const plain = readable(text);
    const order = ORDERS.find((phrase) => plain.includes(phrase));
    if (order !== undefined) found.push({ reason: `gives orders to a model ("${order}")`, isHard: true });
    for (const reason of findCompanies(plain)) found.push({ reason, isHard: true });
    const place = SECRET_PLACES.find((path) => plain.includes(path));
    if (place === undefined) continue;
    found.push({ reason: `names a place of secrets (${place})`, isHard: isCarried(plain, place) });
  }
  return found;
}
