import type { JsonObject } from '../../kernel/json.js';
import { endOfString } from './printed-json.js';

/** `"name": "x"`, `"function": "x"` and `"description": "x"`; strings do not span lines. */
const PAIR = /"(name|function|description)"\s*:\s*"((?:[^"\\\n]|\\.){1,2000})"/g;

/** Keys below which a `name` is not that of a tool: inside a schema it is a property, elsewhere a product. */
const FOREIGN = new Set([
  'properties',
  'inputSchema',
  'input_schema',
  'outputSchema',
  'parameters',
  'schema',
  '$defs',
  'definitions',
  'serverInfo',
  'clientInfo',
  'error',
  'icons',
]);

/** What a tool may be called. */
const TOOL_NAME = /^[A-Za-z][\w.\-/]{1,63}$/;

/** Words that begin or end what a tool is called. */
const VERBS = new Set(
  (
    'add analyze append browse build calculate call cancel check clear click close commit compare connect convert copy count create ' +
    'delete deploy describe disable download edit enable execute export extract fetch fill filter find generate get import insert ' +
    'inspect install invoke list load lookup make merge modify move navigate open parse patch ping play post publish pull push put ' +
    'query read remove rename render replace reply request reset resolve restart retrieve run save scan scrape search select send ' +
    'set show sort start stop submit subscribe summarize sync tail take test transform translate trigger type update upload validate ' +
    'verify view wait watch write'
  ).split(' '),
);

/** `word_word`, no part of a longer name, path or variable. The cheap test comes first: a part of a word never gets to the other. */
const IDENTIFIER = /(?<![\w/.$-])[a-z][a-z0-9]*(?:_[a-z0-9]+)+(?!\w)(?![\w/(.-]*[/\\=])/g;

/** A line with such a word is about tools, and then any `word_word` in it may be one. */
const ABOUT_TOOLS = /\b(?:tools?|functions?|commands?|methods?|call|usage|available)\b/i;

/** `- read_file: Reads a file`, with any of the usual signs in front and between. */
const BULLET =
  /^\s*(?:[-*•·]|\d{1,3}[.)])\s+[`"']?([A-Za-z][\w.-]{1,63})[`"']?\s*(?:\([^)\n]{0,200}\))?\s*(?:[:–—]|-(?=\s))\s*(\S.{0,500})$/;

/** Where a crash happened: a frame of JavaScript or Python, or a place before the line of source that is there. */
const FRAME = /^\s*(?:at |File "[^"\n]*", line \d+)|^\S+:\d+$/;
/** What a trace prints below a frame. */
const SOURCE = /^(?:\s{4}|\s*[\^~]+\s*$)/;
/** `TypeError: …`, the head of a trace or its end. */
const CRASH = /^\s*(?:\[cause\]: )?(?:Uncaught )?(?:\w+\.)*\w*(?:Error|Exception)\b.*:/;

/** The lines that a program wrote to be read: the trace of a crash names functions of the program, not tools. */
function linesWithoutTraces(text: string): string[] {
  let isTrace = false;
  return text.split('\n').filter((line) => {
    if (line.length > 2000) return false;
    const isFrame = FRAME.test(line);
    isTrace = isFrame || (isTrace && SOURCE.test(line));
    return !isTrace && !CRASH.test(line);
  });
}

/** Names in `"name": "x"` pairs that stand outside schemas, with the description beside them. */
export function findPairs(text: string): JsonObject[] {
  const found: Array<{ name: string; description?: string; group: number }> = [];
  const groups = groupsOf(text);
  for (const { 1: key, 2: raw, index } of text.matchAll(PAIR)) {
    const group = groups(index);
    if (group === undefined) continue;
    const value = unescape(raw!);
    const last = found.at(-1);
    if (key === 'description') {
      if (last && last.group === group && last.description === undefined) last.description = value;
    } else if (TOOL_NAME.test(value)) found.push({ name: value, group });
  }
  return found.map(({ name, description }) => (description === undefined ? { name } : { name, description }));
}

/** For ascending positions, the object that contains them; `undefined` inside foreign text. */
function groupsOf(text: string): (position: number) => number | undefined {
  const open: Array<{ id: number; foreign: boolean }> = [];
  let at = 0;
  let next = 1;
  return (position) => {
    for (; at < position; at++) {
      const sign = text[at]!;
      if (sign === '"') {
        const end = endOfString(text, at);
        if (end < position) at = end;
      } else if (sign === '{') {
        const key = /"([^"\n]{1,64})"\s*:\s*(?:\[\s*)?$/.exec(text.slice(Math.max(0, at - 100), at))?.[1];
        open.push({ id: next++, foreign: open.at(-1)?.foreign === true || (key !== undefined && FOREIGN.has(key)) });
      } else if (sign === '}') open.pop();
    }
    const inside = open.at(-1);
    return inside?.foreign ? undefined : (inside?.id ?? 0);
  };
}

function unescape(raw: string): string {
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    // A stray backslash: the text as it was printed is the best there is.
    return raw;
  }
}

/** Words that look like names of tools in prose: `word_word` with a verb in it or among talk of tools, or an item of a list. */
export function findIdentifiers(text: string): JsonObject[] {
  const found: JsonObject[] = [];
  for (const line of linesWithoutTraces(text)) {
    const bullet = BULLET.exec(line);
    if (bullet && (bullet[1]!.includes('_') || isVerb(bullet[1]!))) {
      found.push({ name: bullet[1]!, description: bullet[2]!.trim() });
      continue;
    }
    const isAbout = ABOUT_TOOLS.test(line);
    for (const [name] of line.matchAll(IDENTIFIER)) {
      const words = name.split('_');
      const fits = isAbout || isVerb(words[0]!) || isVerb(words.at(-1)!);
      if (fits && name.length <= 64) found.push({ name });
    }
  }
  return found;
}

function isVerb(word: string): boolean {
  return VERBS.has(word.split(/(?=[A-Z])|[_.-]/)[0]!.toLowerCase());
}
