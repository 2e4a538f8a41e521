import { SHAPELESS } from '../kernel/invisible-characters.js';
import { oneLine } from '../kernel/text.js';
import { humanise } from './words.js';

/** Characters of a summary. */
const SUMMARY_LENGTH = 100;

/** Nothing after this is read for a summary. */
const READ_LENGTH = 1500;

/** A `.` after one of these, or after a single letter, ends no sentence. */
const ABBREVIATIONS: ReadonlySet<string> = new Set('e.g i.e eg ie etc vs cf approx incl max min no'.split(' '));

/** Invisible or cursor-moving characters have no place in a line that an agent or a person trusts. */
const INVISIBLE = new RegExp(String.raw`(?![\n\t])[\p{Cc}\p{Cf}${SHAPELESS}]`, 'gu');

/** Openings that say nothing: `This tool will list…` → `List…`. */
const OPENING =
  /^(?:use )?this (?:tool|function|endpoint)(?: (?:will|can|is used|can be used|allows (?:you|users)|lets you|when you need))?(?: to)? (?!is\b|was\b|has\b|does\b|must\b|should\b|may\b|requires\b|needs\b)(?=\p{L})/iu;

/** A sentence that describes the whole server or calls for attention, not this tool. */
const BOILERPLATE =
  /^(?:[^.:]{0,40}: )?this is (?:the|a|an) [^.]{0,60}\b(?:api|server)\b|^this (?:tool|endpoint|function) is deprecated|^\P{L}{0,8}(?:important|note|warning|mandatory|required|attention)\b/iu;

function stripMarkdown(text: string): string {
  return text
    .replace(/^\s*\([^()]{1,400}\)\s*/, '')
    .replace(INVISIBLE, (char) => (char === '\r' ? '\n' : ''))
    .replace(/\\n/g, '\n')
    .replace(/\\([`*_#[\]])/g, '$1')
    .replace(/```\w*/g, '')
    .replace(/^[ \t]*<[a-z][\w-]{0,30}>|<\/[a-z][\w-]{0,30}>/gim, '')
    .replace(/!?\[([^[\]\n]{1,200})\]\([^()\s]{1,500}\)/g, '$1')
    .replace(/`([^`\n]{1,200})`/g, '$1')
    .replace(/\*\*|__(?=\S)|(?<=\S)__/g, '');
}

/** The text's paragraphs, headings left out unless there is nothing else. */
function paragraphs(text: string): string[] {
  const blocks = text
    .split(/\n[ \t]*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== '' && !/^[-=*_\s]+$/.test(block));
  const bodies = blocks
    .map((block) =>
      block
        .split('\n')
        .filter((line) => !/^\s*#{1,6}\s/.test(line))
        .join('\n')
        .trim(),
    )
    .filter((block) => block !== '');
  return bodies.length > 0 ? bodies : blocks.map((block) => block.replace(/^\s*#{1,6}\s+/, ''));
}

function isSentenceEnd(text: string, at: number): boolean {
  const char = text[at]!;
  if ('。！？'.includes(char)) return true;
  if (!'.!?'.includes(char)) return false;
  const next = text[at + 1];
  if (next !== undefined && !/[\s"')\]]/.test(next)) return false;
  if (char !== '.') return true;
  const before = /[\p{L}.]{1,12}$/u.exec(text.slice(Math.max(0, at - 12), at))?.[0] ?? '';
  if (/^\p{L}$/u.test(before) && !/^[Ia]$/.test(before)) return next === undefined;
  return !ABBREVIATIONS.has(before.toLowerCase());
}

/** Cuts a paragraph into sentences; a list, or a short line that is followed by a new beginning, ends one too. */
function sentences(paragraph: string): string[] {
  const found: string[] = [];
  let start = 0;
  let line = 0;
  let brackets = 0;
  const take = (end: number): void => {
    const sentence = paragraph.slice(start, end).replace(/\s+/g, ' ').trim();
    if (sentence !== '') found.push(sentence);
    start = end;
  };
  for (let i = 0; i < paragraph.length; i++) {
    if (paragraph[i] === '\n') {
      const next = /^\s*(\S?)(.?)/.exec(paragraph.slice(i + 1, i + 40));
      const isList = /[-*•\d]/.test(next?.[1] ?? '') && /[\s.)]/.test(next?.[2] ?? '');
      const isFresh = i - line < 60 && /\p{Lu}/u.test(next?.[1] ?? '') && !/[,;(]\s*$/.test(paragraph.slice(line, i));
      if (isList || isFresh) take(i);
      line = i + 1;
      brackets = 0;
    } else if (paragraph[i] === '(') brackets++;
    else if (paragraph[i] === ')') brackets--;
    else if (brackets <= 0 && isSentenceEnd(paragraph, i)) take(i + 1);
  }
  take(paragraph.length);
  return found;
}

function tidy(sentence: string): string {
  const bare = sentence.replace(/^[-*•>#\s]+/, '').replace(OPENING, '');
  const text = bare.replace(/\s*[:;,.。-]\s*$/u, '').trim();
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The first sentence of a description on one line, else the title, else the name as words (at most 100 characters). */
export function summarise(description: string, title: string | undefined, name: string): string {
  const all = paragraphs(stripMarkdown(description.slice(0, READ_LENGTH))).flatMap((block) => sentences(block));
  const telling = all.find((sentence) => !BOILERPLATE.test(sentence)) ?? all[0] ?? '';
  const text = [tidy(telling), title?.replace(INVISIBLE, '').trim(), humanise(name), name.replace(INVISIBLE, '')].find(
    (candidate) => candidate !== undefined && /[\p{L}\p{N}]/u.test(candidate),
  );
  const shown = text ?? '';
  // A remark in brackets at the end is the first thing to go.
  return oneLine(shown.length > SUMMARY_LENGTH ? shown.replace(/\s*\([^()]*\)$/, '') : shown, SUMMARY_LENGTH);
}
