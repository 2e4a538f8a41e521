/**
 * Words that say nothing about which tool is wanted. Agents and people ask in sentences, so this
 * list does more for the ranking than any other single thing. Verbs that name an action stay out.
 */
const LIST = `
a about after all also am an and any are as at be because been before being both but by can cannot
could d did do does doing done don down during each either else etc every few for from further had
has have having he hello help her here hers hey hi him his how however i if in into is it its itself
just kindly let lets ll like m may maybe me might mine more most much must my myself need needs no nor
not now of off on once one only or other our ours out over own please re s same shall she should
since so some such t than thank thanks that the their them then there these they thing things this
those through to too under until up us ve very via want wants was we were what when where whether
which while who whom whose why will wish with within without would yes yet you your yours
`;

const STOP_WORDS: ReadonlySet<string> = new Set(LIST.trim().split(/\s+/));

/** Whether a lower-case word carries no meaning of its own. */
export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word);
}
