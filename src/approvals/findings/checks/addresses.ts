import type { Check, Sign } from '../check.js';

/** An address of mail that a text names as such and not as an example of one. */
const MAIL =
  /(?<![\w.+-])[\w.+-]{1,64}@(?!example\.|domain\.|email\.|mail\.com|company\.|acme\.|test\.|localhost)[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}/g;
const RAW_ADDRESS =
  /\bhttps?:\/\/(?!127\.|10\.|192\.168\.|0\.0\.0\.0|172\.(?:1[6-9]|2\d|3[01])\.)\d{1,3}(?:\.\d{1,3}){3}(?:[:/]|\b)/;
const WALLET = /\b0x[0-9a-f]{40}\b|\b[a-z]{2}\d{2}[a-z0-9]{11,30}\b|\bbc1[a-z0-9]{25,60}\b/;
const EXAMPLE =
  /\be\.?g\b|\bexamples?\b|\bsuch as\b|\blike\b|\bformat\b|\bcontact\b|\bsupport\b|\bquestions\b|\bfor instance\b|\bz\.? ?b\b|\bp\.? ?ej\b/;
/** What is done with things that leave: in English; in other languages an address in the middle of an order is enough. */
const LEAVES =
  /\b(?:send|sent|sends|sending|forward\w*|mail(?:ed|ing)?|e-?mail(?:ed|ing)?|cc(?:'?d)?|bcc|copy|copied|deliver\w*|upload\w*|post(?:ed|ing)?|shoot|ship\w*|route\w*|hand(?:ed)? over|pass(?:ed)?|submit\w*|report to|extended by|added? to|include\w*|append\w*|paste|transfer\w*|pay|move\w*)\b/;
const ALWAYS =
  /\b(?:always|every|each|also|as well|whenever|all|too|whatever|whole|complete|both|in addition|regardless|instead|substitut\w*|replac\w*|swap\w*|difference)\b/;

/** The sentence around a place of a text. */
function sentenceAt(plain: string, at: number): string {
  const start = Math.max(plain.lastIndexOf('. ', at), plain.lastIndexOf('\n', at), at - 300) + 1;
  const ends = [plain.indexOf('. ', at), plain.indexOf('\n', at)].filter((end) => end > 0);
  // The names of hosts say nothing about the sentence.
  return plain
    .slice(start, Math.min(at + 300, ...ends, plain.length))
    .replace(/[\w.+-]{0,64}@?[\w-]{1,63}\.(?:example|test)\b/g, '@');
}

function isLatinOnly(text: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[^\u0000-\u024f\u2000-\u206f]/.test(text);
}

/** A definition that names an address of its own for what passes through it. */
export const addresses: Check = {
  name: 'addresses',
  about: 'An address that a definition names as the place for data or money',
  find({ plain }) {
    const signs: Sign[] = [];
    // The dots of an abbreviation end no sentence; places stay the same.
    const text = plain
      .slice(0, 64 * 1024)
      .replace(/\b(?:e\.g|i\.e|z\.b|p\.ej)\. /g, (found) => found.replace('. ', ', '));
    // Most texts have no such sign, and looking for it costs more than the rest.
    for (const { index } of text.includes('@') ? text.matchAll(MAIL) : []) {
      const sentence = sentenceAt(text, index);
      if (EXAMPLE.test(sentence)) continue;
      const leaves = LEAVES.test(sentence) || !isLatinOnly(sentence);
      const weight = leaves && (ALWAYS.test(sentence) || !isLatinOnly(sentence)) ? 4 : leaves ? 3 : 2;
      signs.push({ reason: 'names an address of mail of its own', weight });
      if (signs.length > 8) break;
    }
    const raw = text.includes('://') ? RAW_ADDRESS.exec(text) : null;
    if (raw && !EXAMPLE.test(sentenceAt(text, raw.index))) {
      const isSent = LEAVES.test(sentenceAt(text, raw.index));
      signs.push({ reason: 'names a bare address of the network', weight: isSent ? 4 : 2 });
    }
    const wallet = /\d{7}|0x|bc1/.test(text) ? WALLET.exec(text) : null;
    if (wallet) {
      const sentence = sentenceAt(text, wallet.index);
      if (!EXAMPLE.test(sentence) && LEAVES.test(sentence) && ALWAYS.test(sentence)) {
        signs.push({ reason: 'names an account of its own for money', weight: 4 });
      }
    }
    return signs;
  },
};
