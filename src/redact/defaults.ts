import { compileFieldGlob, type FieldGlob } from '../kernel/patterns/field-glob.js';

/** Fields that are never logged or stored in clear, whatever the configuration says (NEG-6). */
const FIELDS = [
  '*authorization*',
  '*token*',
  '*secret*',
  '*{password,passwd,passphrase}*',
  '*cookie*',
  '*{api,access,private}{,-,_}key*',
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
 * issuers, web tokens, private keys, passwords in URLs. Every repetition is bounded or begins with a fixed text, so that
 * no input can slow it down.
 */
const FORMS = new RegExp(
  [
    NAMED + String.raw`\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?<named>[^\s"'\\,&{}[\]]{1,512})`,
    String.raw`(?:[Aa]uthorization|AUTHORIZATION|[Cc]ookie|COOKIE)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?(?<header>[^"'\\\r\n]{1,4096})`,
    String.raw`\b[Bb]earer\s{1,4}(?<bearer>[\w.~+/=-]{8,4096})`,
    String.raw`\b(?:sk-|pk-|rk_|sk_|gh[opsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|npm_|hf_)[\w-]{16,512}`,
    String.raw`\beyJ[\w-]{8,4096}\.[\w-]{4,4096}(?:\.[\w-]{0,4096})?`,
    String.raw`-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]*?(?:-----END|$)`,
    String.raw`:\/\/(?<login>[^\s/@:]{0,100}:[^\s/@]{1,200}@)`,
    // Two numbers are the ids of a user and a group.
    String.raw`\B-(?:u |-user[\s=])\s{0,3}["']?(?<basic>(?!\d{1,10}:\d{1,10}(?:\s|$))[^\s:"']{1,100}:[^\s"']{1,200})`,
  ].join('|'),
  'g',
);

/** No form is shorter. */
const MIN_LENGTH = 5;

/** Every form holds one of these, and to look for a fixed text is far cheaper than to try every form at every letter. */
const HINTS = (
  'assw,assp,PASSW,PASSP,pwd,Pwd,ecret,SECRET,oken,TOKEN,key,Key,KEY,uthoriz,AUTHOR,ookie,COOKIE,earer,-u ,--user,sk-,pk-,rk_,' +
  'sk_,gho_,ghp_,ghs_,ghu_,github_pat_,glpat-,xox,AKIA,AIza,npm_,hf_,eyJ,PRIVATE,://'
).split(',');

/** Below this length one pass for all hints is cheaper than one pass for each. */
const SHORT = 100;
const SOME_HINT = new RegExp(HINTS.join('|'));

function hasHint(text: string): boolean {
  return text.length < SHORT ? SOME_HINT.test(text) : HINTS.some((hint) => text.includes(hint));
}

/** Where a text holds something in the form of a secret. */
export function findSecretForms(text: string): Array<readonly [start: number, end: number]> {
  if (text.length < MIN_LENGTH || !hasHint(text)) return [];
  return Array.from(text.matchAll(FORMS), ({ 0: form, index, groups }) => {
    const end = index + form.length;
    // The secret is the end of the match; the name before it stays, for readers of the log.
    const { named, header, bearer, login, basic } = groups ?? {};
    return [end - (named ?? header ?? bearer ?? login ?? basic ?? form).length, end] as const;
  });
}
