import type { Analyzer } from './analysis.js';

/** Needs that one query may hold; what comes later joins the last one. */
export const MAX_NEEDS = 4;

/** Verbs that are hardly ever nouns: after them a request goes on, whatever follows. */
const VERBS = words(
  'accept activate add adjust advance allocate analyse analyze annotate announce append apply approve archive arrange assemble assess',
  'assign attach authorise authorize average blur boil bring browse buy calculate cancel capture cast categorise categorize celebrate',
  'certify chase choose clarify classify click clip clone collect combine compile complete compress compute configure confirm connect',
  'consolidate construct convert correct crawl create customise customize deactivate decide declare decline decode decompress decrypt',
  'deduct define delegate delete deliver demonstrate deploy derive describe detect determine develop diagnose disable discard',
  'disconnect discover dismiss dispatch display distribute divide download duplicate edit embed enable encode encrypt endorse enlarge',
  'enrol enroll ensure enter enumerate erase establish evaluate examine execute expand explain explore export extend extract fetch',
  'figure fill film find finish fix flatten follow force forecast forget forward gather generate get give go grab grant highlight',
  'identify ignore import improve include increase inform initialise initialize insert inspect install instruct integrate invite',
  'invoke issue join jot keep launch learn leave let locate look lower maintain make manage mark measure meet memorise memorize',
  'mention merge migrate minimise minimize modify monitor move multiply navigate normalise normalize notify obtain offer optimise',
  'optimize organise organize paint parse paste pay perform place plug predict prepare prevent print prioritise prioritize produce',
  'protect prove provide provision publish put raise read realign rearrange rebuild recalculate receive recommend reconcile recover',
  'redact redeem reduce refer refund register reject relaunch remember remind remove rename render repair repeat replace reply',
  'research resize resolve respond restart restore retrieve revert revoke ring rotate round run save say scan scrape see sell send',
  'serve shift shorten show shrink shut silence simulate skip solve sort spin store streamline strip submit subtract suggest sum',
  'summarise summarize suspend swap take teach tell terminate throw track transcribe transfer transform translate transpose turn',
  'tweet unarchive unblock uninstall unmute unpack unpin unpublish unsubscribe unzip upgrade upload use vacuum validate verify',
  'visualise visualize wait wake walk wipe withdraw wrap write zip zoom',
);

/** Words that are verbs only when an object follows: `post it`, not `post office`. */
const VERBS_OR_NOUNS = words(
  'alert answer appoint ask back backup balance ban batch benchmark bill block board bold book bookmark boost branch broadcast buffer',
  'build bump cache call change charge chart chat check chop clean clear close code comment commit compare contact control copy cost',
  'count cover crop cross cue cut cycle date debug decrease delay deposit detail dial diff dim document double draft draw drive drop',
  'dump echo email empty end escalate estimate exchange fast file filter flag flash flip flush fold fork format frame freeze fund',
  'graph greet group guess guide hand handle hash head help hide hire hold host hunt index invoice kick kill label lead lend level',
  'lift light limit line link list load lock log loop mail map match message mix mock model mute name nap need note number open order',
  'outline pack page pair pass patch pause phone pick pin ping plan play plot point poll pool post preview price profile program',
  'project promote pull pump purchase push query question queue quote rank rate react rebase record refresh refuse release reload',
  'rent report request rerun reserve reset rest resume retry return reverse review rewrite roll route sample scale schedule score',
  'screen screenshot search seed set share ship sign size sketch slide snap snapshot sound source split stage stamp star start state',
  'stop stream stretch style subscribe supply support surface survey switch sync tag tail talk target test text thank time top total',
  'touch trace trade train trash trigger trim try tune type undo unlock update value view vote warn watch water weigh work',
);

/** What stands after a verb and not after a noun. */
const TAKEN_BY_VERBS = words(
  'a an the my our your his her their its this that these those it them him me us you all each every any some both everything everyone anyone anybody someone',
  'somebody nobody what which who whom how why whether where when if about into onto back up down out off over to with for',
);

/** Beginnings of a question, and of a request in the form of one. */
const QUESTION =
  /^(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|am i|do|does|did|has|have (?:i|we|they)|should|can i|could i|can we)\b/i;
const POLITE =
  /^(?:please|kindly|can you|could you|would you|will you|help me|i (?:also )?(?:need|want|would like|have to)|i(?:'|’)d (?:also )?like)\b/i;

/** What says how to answer a request, rather than asking for something else. */
const FORM =
  /^(?:give (?:me|us)|provide|tell (?:me|us)|let me know|say|make (?:it|sure|them)|explain (?:it|them|that|this|how|why))\b/i;

/** A question about what was just spoken of. */
const SAME_THING = /\b(?:it|its|they|them|their|that|this|those|these|there|he|she|each)\b/i;

/** Words that only join one need to the next, and say by themselves that another one follows. */
const JOINING =
  /^(?:(?:and|then|also|next|after that|afterwards|finally|lastly|secondly|thirdly|first|firstly|besides|additionally|in addition|plus|please|as well|so|but|if so|if yes|if not|if there (?:is|are) (?:any|none|one)|otherwise|in that case)\b[,:]?\s*)+/i;
const NEXT =
  /\b(?:then|also|next|after that|afterwards|finally|lastly|secondly|thirdly|besides|additionally|in addition|plus|if so|if yes|if not|otherwise|in that case)\b/i;

/** What `then` answers to. */
const CONDITION = /\b(?:if|when|once|whenever)\b/i;

/** The aims within a request; those of `I need to …` are requests themselves. */
const AIM = /(?<!\b(?:need|want|like|have|going)) to (?=[a-z]+ )/g;

/** Numbers and bullets of a list, at its beginning or after a space. */
const ITEM = /(?:^|\s)(?:\(?([1-9])[.)]|\(?([a-e])\)|step ([1-9]):)\s+/gi;
const BULLET = /^\s*[-*•–]\s+/;

/** Where another need may begin; what was matched is looked at again, and stays where none does. */
const BORDER =
  /\s*(?:;|；|。|？|！|\n)\s*|[.!?]["'”’)]?\s+|\s?,?\s(?:and then|and also|after that|afterwards|and|then|plus|&)\s+|,\s+|\s*[，、]?(?:然后|接着|并且|同时|之后再|それから|その後|そして)\s*|\s+(?:und dann|und danach|y luego|y después|y despues|et puis|puis|et ensuite|ensuite|e depois|e em seguida|e poi|и затем|а затем|затем|ve sonra|फिर|और फिर|ثم|তারপর|그리고 나서)\s+/giu;

/** Borders of one text that are looked at: what is longer is no list of needs. */
const MAX_BORDERS = 64;

/** Borders that part two needs where no verb is known on either side. */
const STRONG =
  /[;；\n]|然后|接着|并且|之后再|それから|その後|dann|danach|luego|después|despues|puis|ensuite|depois|seguida|poi|затем|sonra|फिर|ثم|তারপর|나서/i;

function words(...lines: string[]): ReadonlySet<string> {
  return new Set(lines.join(' ').split(' '));
}

/** The end of a sentence, and the beginning of a sentence that only states a topic. */
const SENTENCE_END = /[.!?。？！]/;
const WISH = /^\s*(?:\p{L}+[,!]? )?i(?:'|’)?(?:m|d| )/iu;

/** How many words of a text say something, by the analysis of the index. */
export type CountWords = (text: string) => number;

/**
 * The needs of a query, in its words: one unless it clearly holds several. Text is cut where a list says so, and where a new
 * request begins after one that is complete: `create an issue and tell the team` is two, `search and replace`, `black and white
 * image` and `terms and conditions` are one. Sentences that ask for nothing stay with the request beside them (FIND-7).
 */
export function splitNeeds(text: string, countWords: CountWords): string[] {
  // Runs of spaces would make the patterns slow.
  const even = text.replace(/[^\S\n]+/g, ' ').replace(/(?: ?\n ?)+/g, '\n');
  const listed = splitList(even);
  const parts = (listed ?? [even]).flatMap((part) => splitText(part, countWords));
  const needs = parts.map(tidy).filter((part) => countWords(part) > 0);
  if (needs.length <= MAX_NEEDS) return needs.length > 1 ? needs : [text];
  return [...needs.slice(0, MAX_NEEDS - 1), needs.slice(MAX_NEEDS - 1).join(', ')];
}

/** The items of a list that is counted or has a bullet on every line; `undefined` where there is none. */
function splitList(text: string): string[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const bullets = lines.filter((line) => BULLET.test(line)).length;
  if (bullets > 1) {
    const [first = '', ...rest] = lines.map((line) => line.replace(BULLET, ''));
    // A line before the list announces it.
    return BULLET.test(lines[0]!) ? [first, ...rest] : rest;
  }
  const marks = [...text.matchAll(ITEM)];
  const isCounted = marks.length > 1 && marks.every((mark, i) => orderOf(mark) === i + 1);
  if (!isCounted) return undefined;
  const items = marks.map((mark, i) => text.slice(mark.index + mark[0].length, marks[i + 1]?.index));
  return items.map((item) => item.replace(/[\s,;.]+(?:and\s*)?$/i, ''));
}

function orderOf([, number, letter, step]: RegExpMatchArray): number {
  return letter === undefined ? Number(number ?? step) : letter.toLowerCase().charCodeAt(0) - 96;
}

/** One text in requests: a border counts where a complete request stands before it and another one begins after it. */
function splitText(text: string, countWords: CountWords): string[] {
  const needs: string[] = [];
  let held = '';
  let isRequest = false;
  const take = (border: string, part: string): void => {
    const asks = isRequestStart(part);
    // Without verbs that are known on either side, as in other languages, a strong border is believed.
    const isBorder =
      saysAnother(held, border, part) || (isRequest ? beginsAnother(held, border, part) : !asks && STRONG.test(border));
    if (isBorder && countWords(held) > 1 && countWords(part) > 1) {
      needs.push(held);
      held = part;
      isRequest = asks;
      return;
    }
    // Nothing is asked of what only leads to a request: I want to travel. Find a hotel.
    if (SENTENCE_END.test(border) && WISH.test(held)) isRequest = false;
    held = `${held}${border}${part}`;
    isRequest ||= asks || isRequestStart(held);
  };
  let at = 0;
  let border = '';
  let looked = 0;
  for (const match of text.matchAll(BORDER)) {
    if (looked++ >= MAX_BORDERS) break;
    const part = text.slice(at, match.index);
    // Joining words alone belong to what follows them.
    if (isQuoted(text, match.index) || isJoining(part) || isHalfVerb(part, match[0])) continue;
    take(border, part);
    border = match[0];
    at = match.index + match[0].length;
  }
  take(border, text.slice(at));
  return [...needs, held];
}

function isJoining(part: string): boolean {
  return `${part.trim()} `.replace(JOINING, '') === '';
}

/** Whether a verb stands alone before `and`: search _and replace_. */
function isHalfVerb(part: string, border: string): boolean {
  const word = part.replace(JOINING, '').trim().toLowerCase();
  return /^\s*(?:and|&)\s*$/i.test(border) && isVerb(word);
}

function isVerb(word: string): boolean {
  return VERBS.has(word) || VERBS_OR_NOUNS.has(word);
}

/** Whether a border says by itself that another need follows: a semicolon, a new line, `and then`, `also`; but not `if … then`. */
function saysAnother(held: string, border: string, part: string): boolean {
  if (/[;；\n]/.test(border)) return true;
  const [joining = ''] = JOINING.exec(part) ?? [];
  const words = `${border.trim()} ${joining}`;
  return NEXT.test(words) && !(CONDITION.test(held) && /^\W*then\W*$/i.test(words));
}

/** Whether a part is another request than the one before it. */
function beginsAnother(held: string, border: string, part: string): boolean {
  const [joining = ''] = JOINING.exec(part) ?? [];
  const text = part.slice(joining.length).trim();
  const isNext = NEXT.test(joining) || NEXT.test(border);
  const isAfterWish = SENTENCE_END.test(border) && WISH.test(held);
  if (QUESTION.test(text)) return !isComma(border) && !SAME_THING.test(text) && !isAfterWish;
  if (POLITE.test(text)) return isNext;
  if (!isRequestStart(text)) return false;
  if (isNext || /[;；\n]/.test(border)) return true;
  if (FORM.test(text)) return false;
  return !isAfterWish && !isWithinAim(held, border);
}

function isComma(border: string): boolean {
  return border.trim() === ',';
}

/** Whether what a bare `and` joins may belong to an aim: `remind me to call Bob and buy milk`. */
function isWithinAim(held: string, border: string): boolean {
  if (!/^\s*(?:and|&)\s*$/i.test(border)) return false;
  const [, last = ''] = / to ([a-z]+)$/.exec(held) ?? [];
  if (isVerb(last)) return true;
  return [...held.matchAll(AIM)].some((match) => isRequestStart(held.slice(match.index + match[0].length)));
}

/** Whether a place of a text stands between quotation marks. */
function isQuoted(text: string, place: number): boolean {
  const before = text.slice(0, place);
  if ((before.match(/"/g) ?? []).length % 2 === 1 || (before.match(/`/g) ?? []).length % 2 === 1) return true;
  if (before.lastIndexOf('“') > before.lastIndexOf('”')) return true;
  // An apostrophe within a word is none.
  return (before.match(/(?<![\p{L}\p{N}])'|'(?![\p{L}\p{N}])/gu) ?? []).length % 2 === 1;
}

/** Whether a part begins as a request does: with a verb in the imperative, or with a question. */
function isRequestStart(part: string): boolean {
  const text = part.replace(JOINING, '').trim();
  if (QUESTION.test(text) || POLITE.test(text)) return true;
  const [begin = '', and = '', ...rest] = text.split(/\s+/);
  const isDouble = /^(?:and|&)$/i.test(and) && isVerb(begin.toLowerCase());
  const [first = '', second = ''] = isDouble ? rest : [begin, and];
  const verb = first.toLowerCase().replace(/[^\p{L}]+$/u, '');
  const isTaken = TAKEN_BY_VERBS.has(second.toLowerCase()) || /^["'“`#@\p{Lu}\p{N}]/u.test(second);
  if (VERBS_OR_NOUNS.has(verb)) return isTaken;
  return VERBS.has(verb) && second !== '' && !/^(?:dates?|times?)$/i.test(second);
}

/** A need without the signs and the joining words around it. */
function tidy(part: string): string {
  const text = part.replace(/^[\s,;]+/, '').replace(JOINING, '');
  return text === part ? text.replace(/[\s,;.]+$/, '') : tidy(text);
}

/** The clauses of a query: how many, and in which of them each term stands, as bits. */
export interface Clauses {
  readonly count: number;
  of(term: string): number;
}

/** Where one need ends and the next may begin. */
const CLAUSE_END = /[.!?;:]\s|[。！？；，\n]|,\s|\s(?:and|then|so|but)\s/;

/** Shorter clauses say too little alone and join the next one. */
const MIN_CLAUSE_TERMS = 4;

/** Bits of a clause set; what comes later joins the last clause. */
const MAX_CLAUSES = 30;

/** Cuts a query into clauses, each with enough terms to be asked alone. */
export function splitClauses(text: string, analyzer: Analyzer): Clauses {
  const clauses: string[][] = [];
  let held: string[] = [];
  for (const part of text.split(CLAUSE_END)) {
    held.push(...analyzer.terms(part));
    if (held.length < MIN_CLAUSE_TERMS || clauses.length >= MAX_CLAUSES) continue;
    clauses.push(held);
    held = [];
  }
  if (clauses.length === 0) clauses.push(held);
  else clauses.at(-1)!.push(...held);

  const bits = new Map<string, number>();
  for (const [i, terms] of clauses.entries()) {
    for (const term of terms) bits.set(term, (bits.get(term) ?? 0) | (1 << i));
  }
  return { count: clauses.length, of: (term) => bits.get(term) ?? 0 };
}
