import { oneLine } from '../kernel/text.js';
import type { Manifest } from '../model/manifest.js';
import type { Tool } from '../model/tool.js';
import { toolToManifest, type ExportedServer } from './manifest.js';

/** Characters of a title: a server may call itself anything. */
const TITLE_LENGTH = 200;

/** One tool as it is exported. */
export interface ExportedTool {
  readonly manifest: Manifest;
  readonly summary: string;
  /** The client that the server comes from runs it without asking. */
  readonly autoApproved: boolean;
}

/** A server and those of its tools that are exported. */
export interface Section {
  readonly server: ExportedServer;
  readonly tools: readonly ExportedTool[];
}

/** Servers by id, tools by name: the same catalog gives the same bytes. */
export function sectionOf(
  server: ExportedServer,
  tools: readonly Tool[],
  hide: (text: string) => string = (text) => text,
): Section {
  const title = server.title === undefined ? {} : { title: oneLine(server.title, TITLE_LENGTH) };
  return {
    server: { id: server.id, shown: server.shown, ...title },
    tools: tools
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((tool) => ({
        manifest: toolToManifest(tool, server, hide),
        summary: hide(tool.summary),
        autoApproved: tool.autoApproved === true,
      })),
  };
}
