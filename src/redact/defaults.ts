import { compileFieldGlob, type FieldGlob } from '../kernel/patterns/field-glob.js';

/** Fields that are never logged or stored in clear, whatever the configuration says (NEG-6). Without alternatives no regex engine is loaded for them. */
const FIELDS = [
  '*authorization*',
  '*token*',
  '*secret*',
  '*password*',
  '*passwd*',
  '*passphrase*',
  '*cookie*',
  ...['api', 'access', 'private'].flatMap((name) => ['', '-', '_'].map((mark) => `*${name}${mark}key*`)),
  '*credential*',
];

/** The fields of the default set. */
export function defaultFields(): FieldGlob[] {
  return FIELDS.map((glob) => compileFieldGlob(glob));
}

/** The name of a key, alone or behind another word: `api_key`, `accessKey`, `SECRET_ACCESS_KEY`. */
const KEY = String.raw`[-_]?(?:[Kk]ey|KEY)`;
/** What stands before a secret in a text: `password=…`, `"api_key": "…"`, `--token …`. `PWD` is the folder of a shell. */
const NAMED =
  String.raw`(?:[Pp]ass(?:word|wd|phrase)|PASS(?:WORD|WD|PHRASE)|[Pp]wd|[Tt]oken|TOKEN` +
  String.raw`|(?:[Ss]ecret|SECRET)(?:(?:[-_]?(?:[Aa]ccess|ACCESS))?${KEY})?` +
  String.raw`|(?:[Aa]pi|API|[Aa]ccess|ACCESS|[Pp]rivate|PRIVATE)${KEY})`;

/**
 * Forms that give a secret away wherever it stands: a value behind such a name, bearer tokens, tokens of common
 * issuers, private keys, passwords in URLs. No repetition can begin inside of another that failed, so that no input can
 * slow it down. Every match of a form holds one of its hints: to look for a fixed text is far cheaper than to try every
 * form at every letter. A form whose hints lack a spelling is never found in that spelling.
 */
const FORMS: ReadonlyArray<{ readonly hints: string; readonly form: string }> = [
  {
    hints: 'assw,assp,PASSW,PASSP,pwd,Pwd,ecret,SECRET,oken,TOKEN,key,Key,KEY',
    form: NAMED + String.raw`\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?<named>[^\s"'\\,&{}[\]]{1,512})`,
  },
  {
    hints: 'uthoriz,AUTHOR,ookie,COOKIE',
    form: String.raw`(?:[Aa]uthorization|AUTHORIZATION|[Cc]ookie|COOKIE)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?<header>[^"'\\\r\n]{1,4096})`,
  },
  { hints: 'earer', form: String.raw`\b[Bb]earer\s{1,4}(?<bearer>[\w.~+/=-]{8,4096})` },
  {
    hints: 'sk-,pk-,rk_,sk_,gho_,ghp_,ghs_,ghu_,github_pat_,glpat-,xox,AKIA,AIza,npm_,hf_',
    form: String.raw`\b(?:sk-|pk-|rk_|sk_|gh[opsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|npm_|hf_)[\w-]{16,512}`,
  },
  { hints: 'PRIVATE', form: String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]*?(?:-----END|$)` },
  { hints: '://', form: String.raw`:\/\/(?<login>[^\s/@:]{0,100}:[^\s/@]{1,200}@)` },
  {
    hints: '-u ,--user',
    // Two numbers are the ids of a user and a group.
    form: String.raw`\B-(?:u |-user[\s=])\s{0,3}["']?(?<basic>(?!\d{1,10}:\d{1,10}(?:\s|$))[^\s:"']{1,100}:[^\s"']{1,200})`,
  },
];

const ANY_FORM = new RegExp(FORMS.map(({ form }) => form).join('|'), 'g');

/** No form is shorter. */
const MIN_LENGTH = 5;

/** The hints of all forms, and of web tokens, which {@link findWebTokens} finds. */
const HINTS = [...FORMS.flatMap(({ hints }) => hints.split(',')), 'eyJ'];

/** Below this length one pass for all hints is cheaper than one pass for each. */
const SHORT = 100;
const SOME_HINT = new RegExp(HINTS.join('|'));

function hasHint(text: string): boolean {
  return text.length < SHORT ? SOME_HINT.test(text) : HINTS.some((hint) => text.includes(hint));
}

type Span = readonly [start: number, end: number];

/** Characters of one part of a web token. */
const MAX_PART = 4096;
const TOKEN_HEAD = /\beyJ[\w-]{8}/;
const TOKEN_TAIL = /[\w-]{4,4096}(?:\.[\w-]{0,4096})?/y;
const TOKEN_LETTER = /[\w-]/;

/**
 * Web tokens, by their dots: an expression would try anew at every `eyJ` of a long word without a dot. Every letter is looked at
 * three times at the most.
 */
function findWebTokens(text: string): Span[] {
  const found: Span[] = [];
  if (!text.includes('eyJ')) return found;
  for (let dot = text.indexOf('.'); dot !== -1; dot = text.indexOf('.', dot + 1)) {
    let begin = dot;
    const first = Math.max(0, dot - MAX_PART - 3);
    while (begin > first && TOKEN_LETTER.test(text[begin - 1]!)) begin--;
    const head = text.slice(begin, dot).search(TOKEN_HEAD);
    TOKEN_TAIL.lastIndex = dot + 1;
    if (head !== -1 && TOKEN_TAIL.test(text)) found.push([begin + head, TOKEN_TAIL.lastIndex]);
  }
  return found;
}

/** Spans in their order, those that overlap as one. */
function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last && start < last[1]) joined[joined.length - 1] = [last[0], Math.max(last[1], end)];
    else joined.push([start, end]);
  }
  return joined;
}

/** Where a text holds something in the form of a secret. */
export function findSecretForms(text: string): Span[] {
  if (text.length < MIN_LENGTH || !hasHint(text)) return [];
  const forms = Array.from(text.matchAll(ANY_FORM), ({ 0: form, index, groups }): Span => {
    const end = index + form.length;
    // The secret is the end of the match; the name before it stays, for readers of the log.
    const { named, header, bearer, login, basic } = groups ?? {};
    return [end - (named ?? header ?? bearer ?? login ?? basic ?? form).length, end];
  });
  const tokens = findWebTokens(text);
  return tokens.length === 0 ? forms : joinSpans([...forms, ...tokens]);
}
