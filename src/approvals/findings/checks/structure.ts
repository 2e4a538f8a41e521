import type { Check, Sign, Subject } from '../check.js';
import { fold, splitCamel } from '../fold.js';

/** A number or letter that says which part of a sentence a field holds: `2/4`, `(b)`, `part 3`, `[2 of 5]`. */
const PART =
  /(?:^|[\s([{<#])(?<!\b(?:step|page|line|day|week|stage|phase|level|such as) )(?:(?:part|piece|fragment|chunk|segment)\s?)?(?:(\d{1,2})\s?(?:\/|of)\s?\d{1,2}|\((\d{1,2}|[a-h])\)|\[(\d{1,2}|[a-h])\]|(?:part|piece|fragment|chunk|segment)\s(\d{1,2}))(?=[\s:.)\]}>,-]|$)/;
/** So many fields with a number are a sentence in parts. */
const LEAST_PARTS = 3;

/** Texts that say that other texts of the same definition are to be put together. */
const TOGETHER =
  /\b(?:descriptions?|titles?|defaults?|enum (?:values|entries)|notes?|hints?|labels?|(?:first|second|third|last) (?:words?|letters?)|initials|fragments|pieces)\b[^.\n]{0,60}\b(?:(?:join(?:ed|s)?|put|read|strung|taken|glued?|stitch(?:ed)?|assembled?|concatenated?|chained?)\b[^.\n]{0,24}\b(?:together|up|downwards?|top to bottom|in (?:this |that |their |alphabetical |numerical |the given )?order|in sequence|consecutively|one after (?:the other|another)|as (?:one|a single)|(?:in)?to (?:one|a single))|form (?:one|a single) (?:sentence|instruction|text|order|line)|(?:make|make up|give|yield|spell) (?:out )?(?:one|a single|the|an?) (?:sentence|instruction|order|message|command|step))\b|\b(?:put|join|read|string|take|stitch|piece) the (?:descriptions|titles|defaults|notes|hints|labels|fragments|pieces)\b[^.\n]{0,40}\b(?:together|downwards|in (?:alphabetical |numerical |the given )?order|in sequence|as (?:one|a single) \w+|one after (?:the other|another))\b/;
/** What is put together in honest texts. */
const DATA = /\b(?:rows?|columns?|results?|files?|records?|values of|strings?|lines of|tables?|arrays?|lists? are)\b/;

/** Names of fields that are meant for a model. */
const FOR_MODEL =
  /^(?:x |_|\$)*(?:for )?(?:llm|ai|agent|model|assistant|gpt|claude)s? (?:hints?|notes?|instructions?|directives?|orders?|rules?|duty|duties|guidance|behaviou?r|actions?|tasks?|todo|steps?|policy|message|prompt|only|must|should)s?$/;
/** Words of a name from which on it is a sentence. */
const SENTENCE_WORDS = 8;
const WORD = /[a-z]{2,}|\d+/g;
const REACH = /\+\d{7,}|@|https?/;

/** A value that a field has unless it is told otherwise. */
const IS_DEFAULT = /\/(?:default|const)(?:\/\d{1,3})?$/;
/** Values through which things leave: addresses, and files of secrets. */
const LEAVES =
  /[\w.+-]@[\w-]+\.\w|^https?:\/\/|(?:^|[\s/])(?:\.env\b|\.netrc|\.npmrc|id_rsa|id_ed25519|master\.key|\.tfstate)/;
/** Texts that want such a value to stay. */
const STAYS =
  /\b(?:defaults?|default (?:values?|entr(?:y|ies)|list|address(?:es)?)|list of defaults|preset|prefilled)\b[^.\n]{0,60}\b(?:(?:is|are) to be kept|must (?:be kept|stay|remain)|belongs? in (?:every|each|all)|(?:never|not|don.?t)(?: be)? (?:removed?|chang\w+|tak\w+ away|dropp?\w*|left out|leave out|overrid\w+|overwrit\w+|replaced?|cleared?))\b|\b(?:stay with|always keep|never (?:remove|change|drop|clear|override|overwrite)|do not (?:remove|change|drop|clear|override|overwrite)) (?:the |this |these )?(?:defaults?|preset|prefilled)\b|\b(?:appended|added) to the default\b/;

function nameOf(key: string): string {
  return fold(splitCamel(key))
    .replace(/[_\-. ]+/g, ' ')
    .trim();
}

/** Fields whose texts are numbered as the parts of one. */
function hasParts({ pieces }: Subject): boolean {
  const seen = new Map<string, number>();
  for (const { path, role, text } of pieces.slice(0, 400)) {
    if ((role !== 'prose' && role !== 'value') || !path.includes('/properties/')) continue;
    const found = PART.exec(fold(text));
    const part = found?.slice(1).find((each) => each !== undefined);
    if (part === undefined) continue;
    // The number of a field counts once, and each field once.
    const field = path.replace(/\/(?:description|title|default|const|\$comment)(?:\/\d+)?$/, '');
    if (!seen.has(field)) seen.set(field, /\d/.test(part) ? Number(part) : part.charCodeAt(0) - 96);
  }
  const parts = [...new Set(seen.values())].toSorted((a, b) => a - b);
  return parts.length >= LEAST_PARTS && parts[0] === 1 && parts.at(-1) === parts.length;
}

/** Text where a schema needs none: sentences in parts, names that are sentences, notes for a model. */
export const structure: Check = {
  name: 'structure',
  about: 'Text where a schema needs none: sentences in parts over fields, names that are sentences, notes for a model',
  find(subject) {
    const signs: Sign[] = [];
    const { pieces, plain } = subject;
    if (hasParts(subject)) signs.push({ reason: 'numbers its fields as the parts of one text', weight: 4 });
    const together = TOGETHER.exec(plain)?.[0];
    if (together !== undefined && !DATA.test(together))
      signs.push({ reason: 'wants the texts of its fields to be read as one', weight: 4 });
    for (const { role, text } of pieces) {
      if (role !== 'key') continue;
      const name = nameOf(text);
      if (FOR_MODEL.test(name)) signs.push({ reason: 'has a field that is a note for a model', weight: 2 });
      const words = name.match(WORD)?.length ?? 0;
      if (words >= SENTENCE_WORDS && /[a-z]/.test(name))
        signs.push({ reason: 'has a name that is a sentence', weight: REACH.test(text) ? 4 : 2 });
    }
    const brings = pieces.some(
      ({ path, role, text }) => role === 'value' && IS_DEFAULT.test(path) && LEAVES.test(text),
    );
    if (brings && STAYS.test(plain))
      signs.push({ reason: 'insists on an address or a file that it brings itself', weight: 4 });
    return signs;
  },
};
