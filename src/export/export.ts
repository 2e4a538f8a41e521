import { printable } from '../kernel/text.js';
import { toolListText, type ToolListOptions } from './tool-list.js';
import { fileNameOf, SERVER_FILE, toolFileOf } from './file-name.js';
import { nameText, stringsText, stringText } from './rtfs/rtfs-text.js';
import type { Section } from './section.js';
import { bareUrl, splitTarget } from './target.js';
import { typescriptText } from './typescript.js';
import { openExportDirectory } from './write-file.js';
import { rtfsFile, type RtfsDialect } from './rtfs/write-rtfs.js';

/** The forms that tools are exported in (SCH-8). */
export const EXPORT_FORMATS = ['rtfs', 'markdown', 'json', 'typescript'] as const;

/** One of {@link EXPORT_FORMATS}. */
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** What was written where. */
export interface Written {
  readonly directory: string;
  /** Files that are new or changed. */
  readonly written: number;
  /** Files that already held the same text. */
  readonly unchanged: number;
}

function targetText({ shown }: Section['server']): string {
  if (shown.type !== 'stdio') return `{:type :mcp :server-url ${stringText(bareUrl(shown.target))}}`;
  const [command = '', ...args] = splitTarget(shown.target);
  return `{:type :mcp :command ${stringText(command)} :args ${stringsText(args)}}`;
}

/** `server.rtfs`: the server, and which capabilities it offers now. */
function serverText({ server, tools }: Section): string {
  const ids = tools.map(({ manifest }) => nameText(manifest.id));
  const lines = [
    `(server ${nameText(`mcp.${server.id}`)}`,
    ...(server.title === undefined ? [] : [`:title ${stringText(server.title)}`]),
    `:provider ${targetText(server)}`,
    `:capabilities [${ids.join('\n                 ')}])`,
  ];
  return `${lines.join('\n  ')}\n`;
}

/** The files of one section, by name: `<tool>.rtfs` for each tool, and `server.rtfs` (SCH-3). */
export function rtfsFiles(section: Section, dialect: RtfsDialect = 'standard'): Map<string, string> {
  const files = section.tools.map(
    ({ manifest }) => [toolFileOf(manifest.provider.toolName), rtfsFile(manifest, dialect)] as const,
  );
  return new Map([...files, [SERVER_FILE, serverText(section)] as const]);
}

/** Writes `<directory>/<server>/<tool>.rtfs` and `server.rtfs` for every section (SCH-3). */
export async function writeRtfs(
  directory: string,
  sections: readonly Section[],
  dialect: RtfsDialect = 'standard',
): Promise<Written> {
  const out = await openExportDirectory(directory);
  let written = 0;
  let unchanged = 0;
  for (const section of sections) {
    const folder = fileNameOf(section.server.id);
    for (const [name, text] of rtfsFiles(section, dialect)) {
      if (await out.write(folder, name, text)) written += 1;
      else unchanged += 1;
    }
  }
  return { directory: out.root, written, unchanged };
}

/** The text of an export that is one file. `existing` is what stands in that file (Markdown keeps parts of it). */
export function exportText(
  format: Exclude<ExportFormat, 'rtfs'>,
  sections: readonly Section[],
  options: ToolListOptions = {},
): string {
  if (format === 'markdown') return toolListText(sections, options);
  if (format === 'typescript') return typescriptText(sections);
  const servers = sections.map(({ server, tools }) => ({
    id: server.id,
    ...(server.title === undefined ? {} : { title: server.title }),
    tools: tools.map(({ manifest }) => manifest),
  }));
  return `${printable(JSON.stringify({ servers }, null, 2))}\n`;
}
