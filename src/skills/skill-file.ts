import { messageOf, type Problem } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { isObject } from '../kernel/json.js';
import { oneLine, printable } from '../kernel/text.js';
import type { CapabilityRequest, Skill } from '../model/skill.js';
import { isCapability } from './capability.js';

/** Characters of a skill that are read; a long one has a tenth of it. */
const MAX_FILE = 256 * 1024;
/** Characters of a line that are looked at. */
const MAX_LINE = 2000;
/** Capabilities and problems of one skill. */
const MAX_CAPABILITIES = 500;
const MAX_PROBLEMS = 50;

const CAPABILITIES = /^(?:required |needed |mcp |declared )?capabilit(?:y|ies)\b/i;

interface Draft {
  title?: string;
  readonly sections: Array<{ title: string; level: number; line: number }>;
  readonly capabilities: CapabilityRequest[];
  readonly problems: Problem[];
  hasSection: boolean;
}

function complain(draft: Draft, line: number, message: string): void {
  if (draft.problems.length < MAX_PROBLEMS) draft.problems.push({ path: `line ${line}`, message });
}

function addCapability(draft: Draft, name: string, line: number): void {
  const shown = JSON.stringify(printable(oneLine(name, 60)));
  if (!isCapability(name)) complain(draft, line, `${shown} is no capability; write it like incident:read or raster:*`);
  else if (draft.capabilities.some((known) => known.name === name)) complain(draft, line, `${shown} is named twice`);
  else if (draft.capabilities.length >= MAX_CAPABILITIES) complain(draft, line, `${shown} is one too many`);
  else draft.capabilities.push({ name, line });
}

/** The first code, or the first word, of a list item or a cell: what follows explains it. */
function nameIn(text: string): string {
  const code = /^[*_[\]\sxX]{0,12}`([^`]{1,400})`/.exec(text)?.[1];
  if (code !== undefined) return code.trim();
  const bare = text
    .replace(/^\[[ xX]?\]\s{0,8}/, '')
    .replace(/\*\*|`/g, '')
    .trim();
  const word = /^\S{1,400}/.exec(bare)?.[0] ?? '';
  const name = word.replace(/[,;.:]$/, '');
  // The first word of a sentence is no capability, unless it looks like one.
  return /[:.]/.test(name) || name === bare ? name : bare;
}

/** Rows of a table: the first cell is the capability, unless the row is the head or the ruler. */
function cellIn(text: string): string | undefined {
  const cell =
    text
      .replace(/^\s{0,8}\|/, '')
      .split('|')[0]
      ?.trim() ?? '';
  return cell === '' || /^:?-+:?$/.test(cell) || CAPABILITIES.test(cell) ? undefined : nameIn(cell);
}

/** Lines of the front matter, and where the text begins. */
function splitFrontMatter(lines: readonly string[], draft: Draft): { matter: string | undefined; start: number } {
  if (lines[0]?.trim() !== '---') return { matter: undefined, start: 0 };
  const end = lines.findIndex((line, i) => i > 0 && /^(?:---|\.\.\.)\s*$/.test(line));
  if (end === -1) {
    complain(draft, 1, 'the front matter is never closed; end it with a line of ---');
    return { matter: undefined, start: 1 };
  }
  return { matter: lines.slice(1, end).join('\n'), start: end + 1 };
}

async function readFrontMatter(matter: string, draft: Draft): Promise<void> {
  const { isMap, isScalar, isSeq, LineCounter, parseDocument } = await import('yaml');
  const counter = new LineCounter();
  const document = parseDocument(matter, { lineCounter: counter, uniqueKeys: false, logLevel: 'silent' });
  const lineOf = (node: unknown): number => {
    const range = isObject(node) ? (node as unknown as { range?: [number] }).range : undefined;
    return range ? counter.linePos(range[0]).line + 1 : 1;
  };
  const [error] = document.errors;
  if (error)
    complain(draft, lineOf({ range: error.pos }), `the front matter is not valid YAML: ${oneLine(error.message, 120)}`);
  if (!isMap(document.contents)) return;
  const title: unknown = document.contents.get('title') ?? document.contents.get('name');
  if (typeof title === 'string') draft.title = title;
  const listed: unknown = document.contents.get('capabilities', true);
  if (listed === undefined || listed === null) return;
  draft.hasSection = true;
  const items: unknown[] = isSeq(listed) ? listed.items : [listed];
  for (const item of items) {
    const value: unknown = isScalar(item) ? item.value : undefined;
    if (typeof value === 'string') {
      const given = isSeq(listed) ? [value.trim()] : value.split(/[\s,]+/).filter(Boolean);
      for (const name of given) addCapability(draft, name, lineOf(item));
    } else complain(draft, lineOf(item), 'an entry of capabilities is not a string');
  }
}

/** Reads the text of a skill line by line; fences hide what only looks like a heading or a list. */
function readBody(lines: readonly string[], start: number, draft: Draft): void {
  let fence: { mark: string; line: number } | undefined;
  let listing: number | undefined;
  for (let i = start; i < lines.length; i++) {
    const line = lines[i]!.slice(0, MAX_LINE);
    const number = i + 1;
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence) {
      if (mark?.startsWith(fence.mark) && line.trim() === mark) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = { mark, line: number };
      continue;
    }
    const heading = /^\s{0,3}(#{1,6})\s+(\S.*)$/.exec(line);
    if (heading) {
      const level = heading[1]!.length;
      const title = oneLine(heading[2]!.replace(/\s#+\s*$/, ''), 200);
      draft.sections.push({ title, level, line: number });
      if (level === 1) draft.title ??= title;
      if (listing === undefined || level <= listing) listing = CAPABILITIES.test(title) ? level : undefined;
      if (listing !== undefined) draft.hasSection = true;
      continue;
    }
    if (listing === undefined) continue;
    const item = /^\s{0,12}(?:[-*+]|\d{1,4}[.)])\s+(\S.*)$/.exec(line)?.[1];
    const name = item === undefined ? (line.trim().startsWith('|') ? cellIn(line) : undefined) : nameIn(item);
    if (name !== undefined) addCapability(draft, name, number);
  }
  if (fence) complain(draft, fence.line, 'a code block is never closed; everything after it was not read');
}

/** Reads a `skill.md`: leniently, so that one mistake hides nothing else, and with the line of every problem (NEG-2). */
export async function parseSkill(text: string, file: { readonly id: string; readonly path: string }): Promise<Skill> {
  const draft: Draft = { sections: [], capabilities: [], problems: [], hasSection: false };
  if (text.length > MAX_FILE) complain(draft, 1, `only the first ${MAX_FILE} characters were read`);
  const lines = text
    .slice(0, MAX_FILE)
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/);
  const { matter, start } = splitFrontMatter(lines, draft);
  if (matter !== undefined) {
    await readFrontMatter(matter, draft).catch((thrown: unknown) =>
      complain(draft, 1, `the front matter cannot be read: ${oneLine(messageOf(thrown), 120)}`),
    );
  }
  readBody(lines, start, draft);
  if (!draft.hasSection) complain(draft, 1, 'it has no "## Capabilities"; without it the skill may call nothing');
  else if (draft.capabilities.length === 0) complain(draft, 1, 'it names no capability, so the skill may call nothing');
  const wide = draft.capabilities.find(({ name }) => /^\*(?::\*)?$/.test(name));
  if (wide) complain(draft, wide.line, `"${wide.name}" asks for everything; name what the skill needs`);
  const { sections, capabilities, problems } = draft;
  const title = printable(oneLine(draft.title ?? file.id, 200));
  return { ...file, title, sections, capabilities, problems, hash: sha256(text) };
}
