import { oneLine, printable } from '../kernel/text.js';
import { fileNameOf } from './file-name.js';
import { mergeRegions } from './regions.js';
import type { ExportedTool, Section } from './section.js';
import { bareUrl } from './target.js';

const TITLE = '# Tool list\n\nEvery export replaces the text between the markers; text outside of them is kept.\n\n';

/** Characters of a list of parameters. */
const PARAMETERS_LENGTH = 200;

const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
]);

/**
 * Foreign text as Markdown that shows exactly it: one line, no HTML, no markers of ours, no emphasis,
 * links, cells, mentions or invisible characters.
 */
function markdownText(text: string): string {
  return printable(text.replace(/\s+/g, ' ').trim())
    .replace(/[&<>]/g, (char) => ENTITIES.get(char) ?? char)
    .replace(/[\\`*_[\]|~$#!]/g, '\\$&')
    .replaceAll('@', '&#64;')
    .replaceAll('://', ':&#47;/')
    .replace(/\bwww\./gi, (found) => `${found.slice(0, -1)}&#46;`);
}

/** Foreign text in the type of code. */
function codeText(text: string): string {
  return /^[\w .:/,=+${}@~%&?*-]+$/.test(text) && text.trim() === text && text !== ''
    ? `\`${text}\``
    : `<code>${markdownText(text)}</code>`;
}

function parametersText({ manifest }: ExportedTool): string {
  const shown: string[] = [];
  let length = 0;
  for (const { name, required } of manifest.parameters) {
    length += name.length + 4;
    if (length > PARAMETERS_LENGTH) break;
    shown.push(`${codeText(oneLine(name, PARAMETERS_LENGTH))}${required ? '' : '?'}`);
  }
  const left = manifest.parameters.length - shown.length;
  return [...shown, ...(left > 0 ? [`+${left}`] : [])].join(' ');
}

/** What a tool does; one that cannot be called says so first. */
function describe({ manifest: { fallback }, summary }: ExportedTool): string {
  if (!fallback) return summary;
  const { provenance, rung, confidence } = fallback;
  return `Not callable: ${provenance} (${rung}, confidence ${confidence}). ${summary}`;
}

function rowText(tool: ExportedTool): string {
  const { toolName } = tool.manifest.provider;
  const cells = [
    codeText(oneLine(toolName, 128)),
    tool.autoApproved ? '✓' : '',
    markdownText(describe(tool)),
    parametersText(tool),
  ];
  return `| ${cells.join(' | ')} |`;
}

function sectionText({ server, tools }: Section): string {
  const { type, target } = server.shown;
  const facts = [
    ...(server.title ? [markdownText(server.title)] : []),
    codeText(type === 'stdio' ? target : bareUrl(target)),
    tools.length === 1 ? '1 tool' : `${tools.length} tools`,
  ];
  const head = ['| tool | auto-approved | what it does | parameters |', '| --- | :-: | --- | --- |'];
  const rows = tools.length > 0 ? ['', ...head, ...tools.map((tool) => rowText(tool))] : [];
  return [`## ${markdownText(server.id)}`, '', facts.join(' · '), ...rows, ''].join('\n');
}

/** What a tool list is renewed with. */
export interface ToolListOptions {
  /** The file as it is. */
  readonly existing?: string;
  /** There are more servers than those given: their sections stay as they are. */
  readonly partial?: boolean;
  /** Servers about which nothing new is known: their sections stay as they are. */
  readonly kept?: readonly string[];
}

/**
 * The tool list in Markdown: one section a server, a mark at tools that the server's client runs without asking (SCH-8).
 * In an existing one the sections are renewed where they stand, those of other servers go, and all
 * other text is kept.
 */
export function toolListText(sections: readonly Section[], options: ToolListOptions = {}): string {
  const regions = new Map(sections.map((section) => [fileNameOf(section.server.id), sectionText(section)]));
  const kept = new Set(options.kept?.map((id) => fileNameOf(id)));
  const text = options.existing === undefined || options.existing.trim() === '' ? TITLE : options.existing;
  return mergeRegions(text, regions, (name) => options.partial === true || kept.has(name));
}
