/**
 * The Snowball "English" stemmer (Porter2): `listing`, `lists` and `listed` become `list`.
 * It works on lower-case a–z; `Y` marks a y that acts as a consonant while a word is being cut.
 */

type Rule = readonly [suffix: string, replacement: string];

const WHOLE_WORDS: ReadonlyMap<string, string> = new Map([
  ['skis', 'ski'],
  ['skies', 'sky'],
  ['dying', 'die'],
  ['lying', 'lie'],
  ['tying', 'tie'],
  ['idly', 'idl'],
  ['gently', 'gentl'],
  ['ugly', 'ugli'],
  ['early', 'earli'],
  ['only', 'onli'],
  ['singly', 'singl'],
  ...['sky', 'news', 'howe', 'atlas', 'cosmos', 'bias', 'andes'].map((word) => [word, word] as const),
]);

const KEPT_WITHOUT_PLURAL: ReadonlySet<string> = new Set(
  'inning outing canning herring earring proceed exceed succeed'.split(' '),
);

const DERIVED: readonly Rule[] = longestFirst(
  'ational:ate tional:tion enci:ence anci:ance abli:able entli:ent izer:ize ization:ize ation:ate ator:ate ' +
    'alism:al aliti:al alli:al fulness:ful ousli:ous ousness:ous iveness:ive iviti:ive biliti:ble bli:ble ' +
    'ogi:og fulli:ful lessli:less li:',
);

const NARROWED: readonly Rule[] = longestFirst(
  'ational:ate tional:tion alize:al icate:ic iciti:ic ical:ic ful: ness: ative:',
);

const DROPPED: readonly Rule[] = longestFirst(
  'al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ism: ate: iti: ous: ive: ize: ion:',
);

function longestFirst(rules: string): Rule[] {
  return rules
    .split(' ')
    .map((rule) => rule.split(':') as [string, string])
    .toSorted((a, b) => b[0].length - a[0].length);
}

/** The stem of a lower-case word; a word with anything but a–z in it is its own stem. */
export function stem(word: string): string {
  if (word.length < 3 || !/^[a-z]+$/.test(word)) return word;
  const fixed = WHOLE_WORDS.get(word);
  if (fixed !== undefined) return fixed;

  const marked = word.replace(/(^|[aeiouy])y/g, '$1Y');
  const singular = cutPlural(marked);
  if (KEPT_WITHOUT_PLURAL.has(singular)) return singular;

  // Regions are offsets into the beginning of the word, which no later step changes.
  const first = firstRegion(marked);
  const second = regionAfter(marked, first);
  let cut = cutPast(singular, first);
  cut = cut.replace(/(?<=.[^aeiouy])[yY]$/, 'i');
  cut = derive(cut, first);
  cut = narrow(cut, first, second);
  cut = drop(cut, second);
  return cutEnd(cut, first, second).replaceAll('Y', 'y');
}

/** Where the first region begins: after the first consonant that follows a vowel. */
function firstRegion(word: string): number {
  const prefix = /^(?:gener|commun|arsen)/.exec(word);
  return prefix ? prefix[0].length : regionAfter(word, 0);
}

function regionAfter(word: string, from: number): number {
  for (let i = from + 1; i < word.length; i++) {
    if (!isVowel(word[i]) && isVowel(word[i - 1])) return i + 1;
  }
  return word.length;
}

function isVowel(letter: string | undefined): boolean {
  return letter !== undefined && 'aeiouy'.includes(letter);
}

function endsInShortSyllable(word: string): boolean {
  return /(?:^|[^aeiouy])[aeiouy][^aeiouywxY]$|^[aeiouy][^aeiouy]$/.test(word);
}

function cutPlural(word: string): string {
  if (word.endsWith('sses')) return word.slice(0, -2);
  if (word.endsWith('ied') || word.endsWith('ies')) return word.slice(0, word.length > 4 ? -2 : -1);
  if (!word.endsWith('s') || word.endsWith('us') || word.endsWith('ss')) return word;
  return /[aeiouy].+s$/.test(word) ? word.slice(0, -1) : word;
}

function cutPast(word: string, first: number): string {
  const suffix = /(?:eedly|ingly|edly|eed|ing|ed)$/.exec(word)?.[0];
  if (suffix === undefined) return word;
  const head = word.slice(0, -suffix.length);
  if (suffix.startsWith('ee')) return head.length >= first ? `${head}ee` : word;
  if (!/[aeiouy]/.test(head)) return word;
  if (/(?:at|bl|iz)$/.test(head)) return `${head}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(head)) return head.slice(0, -1);
  return head.length <= first && endsInShortSyllable(head) ? `${head}e` : head;
}

function matching(word: string, rules: readonly Rule[]): Rule | undefined {
  return rules.find(([suffix]) => word.endsWith(suffix));
}

function derive(word: string, first: number): string {
  const rule = matching(word, DERIVED);
  if (!rule) return word;
  const head = word.slice(0, -rule[0].length);
  if (head.length < first) return word;
  if (rule[0] === 'ogi' && !head.endsWith('l')) return word;
  if (rule[0] === 'li' && !/[cdeghkmnrt]$/.test(head)) return word;
  return head + rule[1];
}

function narrow(word: string, first: number, second: number): string {
  const rule = matching(word, NARROWED);
  if (!rule) return word;
  const head = word.slice(0, -rule[0].length);
  return head.length >= (rule[0] === 'ative' ? second : first) ? head + rule[1] : word;
}

function drop(word: string, second: number): string {
  const rule = matching(word, DROPPED);
  if (!rule) return word;
  const head = word.slice(0, -rule[0].length);
  if (head.length < second) return word;
  return rule[0] === 'ion' && !/[st]$/.test(head) ? word : head;
}

function cutEnd(word: string, first: number, second: number): string {
  const head = word.slice(0, -1);
  if (word.endsWith('e')) {
    const goes = head.length >= second || (head.length >= first && !endsInShortSyllable(head));
    return goes ? head : word;
  }
  return word.endsWith('ll') && head.length >= second ? head : word;
}
