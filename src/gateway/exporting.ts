import { approvalCheck, ruleCheck } from '../execute/index.js';
import type { ExportFormat, RtfsDialect, Section } from '../export/index.js';
import { messageOf, ToolscoutError } from '../kernel/errors.js';
import type { Server } from '../model/server.js';
import type { Tool, ToolStatus } from '../model/tool.js';
import type { Core } from './core.js';
import type { OutputInference } from './inference.js';
import type { Gateway } from './verbs.js';
import { isUsable, problemOf } from './views.js';

/** What is exported, in which form, and where to (SCH-8). */
export interface ExportOptions {
  readonly format: ExportFormat;
  /** For RTFS: where the files go; `exportDirectory` of the configuration by default. */
  readonly directory?: string;
  /** For all other formats: the file to write; without one the text is the answer. */
  readonly file?: string;
  /** All usable servers by default. */
  readonly servers?: readonly string[];
  /** For RTFS; `rtfsDialect` of the configuration by default. */
  readonly dialect?: RtfsDialect;
}

/** What became of an export. */
export interface ExportReport {
  readonly format: ExportFormat;
  readonly servers: number;
  readonly tools: number;
  readonly directory?: string;
  readonly file?: string;
  /** Files that are new or changed, and files that held the same text before. */
  readonly written?: number;
  readonly unchanged?: number;
  /** The export itself, where no file was named. */
  readonly text?: string;
  /** Servers whose tools are not known and therefore not in it. */
  readonly failed: ReadonlyArray<{ readonly server: string; readonly reason: string }>;
}

/** The verbs that export, and the end of what they write on their own. */
export interface Exporting {
  readonly verbs: Pick<Gateway, 'exportTools' | 'toolSignature'>;
  /** Writes a server as it is offered now to the export directory; resolves when that is done. */
  refresh(server: string): Promise<void>;
  /** Resolves when every list that was learned has been written (DISC-2). */
  finished(): Promise<void>;
}

type Room = typeof import('../export/index.js');

/** Rarely needed, so it is loaded when it is. */
const loadRoom = (): Promise<Room> => import('../export/index.js');

/** What people look through may hold tools that wait for approval; what programs call may not. */
const EXPORTED: Readonly<Record<ExportFormat, readonly ToolStatus[]>> = {
  rtfs: ['enabled', 'pending'],
  markdown: ['enabled', 'pending'],
  json: ['enabled'],
  typescript: ['enabled'],
};

function checkOptions({ format, directory, file }: ExportOptions): void {
  const complain = (path: string, message: string): never => {
    throw new ToolscoutError('INVALID_REQUEST', `${message}.`, { problems: [{ path, message }] });
  };
  if (!Object.hasOwn(EXPORTED, format))
    complain('format', `The format "${format}" is none of rtfs, markdown, json, typescript`);
  if (format === 'rtfs' && file !== undefined) complain('file', 'RTFS is many files: name a directory');
  if (format !== 'rtfs' && directory !== undefined) complain('directory', `${format} is one file: name a file`);
}

/** The verbs that export tools; with `exportToRtfs` every list that is learned is written as well. */
export function createExporting(core: Core, outputs: OutputInference): Exporting {
  const { pool, audit, log } = core.deps;

  const withOutput = async (tool: Tool): Promise<Tool> => {
    const inferredOutput = await outputs.outputOf(tool);
    return inferredOutput ? { ...tool, inferredOutput } : tool;
  };

  const sectionFor = async ({ sectionOf }: Room, server: Server, format: ExportFormat): Promise<Section> => {
    const tools: Tool[] = [];
    for (const tool of core.catalog.index.tools(server.id)) {
      if (EXPORTED[format].includes(tool.status)) tools.push(await withOutput(tool));
    }
    const title = server.title ?? core.catalog.title(server.id);
    return sectionOf({ id: server.id, shown: server.shown, title: title && core.hide(title) }, tools, core.hide);
  };

  /** The servers asked for, in two heaps: those whose list is known by now, and the others with the reason. */
  const gather = async (ids: readonly string[] | undefined): Promise<[Server[], ExportReport['failed']]> => {
    await core.filled();
    const wanted = ids
      ? [...new Set(ids)].map((id) => core.catalog.server(id))
      : [...core.catalog.servers.values()].filter(isUsable);
    const servers = wanted.toSorted((a, b) => (a.id < b.id ? -1 : 1));
    await core.learner.learnAll(
      servers.filter((server) => isUsable(server) && !core.catalog.list(server.id)),
      { parallel: core.loaded.config.maxParallelDiscoveries },
    );
    const { catalog, learner } = core;
    const reason = (server: Server): string =>
      problemOf(server, { catalog, learner, pool, hide: core.hide }) ?? 'its tools are not known';
    return [
      servers.filter(({ id }) => catalog.list(id)),
      servers.filter(({ id }) => !catalog.list(id)).map((server) => ({ server: server.id, reason: reason(server) })),
    ];
  };

  const exportTools = async (options: ExportOptions): Promise<ExportReport> => {
    checkOptions(options);
    const { format, file, servers: ids } = options;
    const room = await loadRoom();
    const [servers, failed] = await gather(ids);
    const sections = await Promise.all(servers.map((server) => sectionFor(room, server, format)));
    const tools = sections.reduce((sum, section) => sum + section.tools.length, 0);
    const report = { format, servers: servers.length, tools, failed };
    const { exportDirectory, rtfsDialect } = core.loaded.config;
    if (format === 'rtfs') {
      const written = await room.writeRtfs(
        options.directory ?? exportDirectory,
        sections,
        options.dialect ?? rtfsDialect,
      );
      recordExport(report, written.directory);
      return { ...report, ...written };
    }
    const existing = file !== undefined && format === 'markdown' ? await room.readPlainFile(file) : undefined;
    const kept = failed.map(({ server }) => server);
    const text = room.exportText(format, sections, { existing, partial: ids !== undefined, kept });
    if (file === undefined) return { ...report, text };
    const isNew = await room.writeExportFile(file, text);
    recordExport(report, file);
    return { ...report, file, written: isNew ? 1 : 0, unchanged: isNew ? 0 : 1 };
  };

  const recordExport = ({ format, servers, tools }: ExportReport, target: string): void =>
    audit.record({
      kind: 'export',
      principal: 'local',
      outcome: 'success',
      detail: { format, servers, tools, target },
    });

  /** Writes a list that has just been learned; a failure to write is no failure to learn. */
  const writeLearned = async (id: string): Promise<void> => {
    const { exportDirectory, rtfsDialect } = core.loaded.config;
    const server = core.catalog.servers.get(id);
    if (!server || !core.catalog.list(id)) return;
    try {
      const room = await loadRoom();
      await room.writeRtfs(exportDirectory, [await sectionFor(room, server, 'rtfs')], rtfsDialect);
    } catch (thrown) {
      log.warn('export.failed', { server: id, reason: core.hide(messageOf(thrown)) });
    }
  };

  // One list after the other: nothing waits for them but the end.
  let writing: Promise<void> = Promise.resolve();
  core.events.on((event) => {
    if (event.type !== 'learned' || !core.loaded.config.exportToRtfs) return;
    writing = writing.then(() => writeLearned(event.server));
  });

  return {
    verbs: {
      exportTools,
      async toolSignature(server, name, { servers } = {}) {
        await core.known(server);
        const tool = core.catalog.tool(server, name, (id) => servers?.has(id) ?? true);
        ruleCheck({ tool });
        approvalCheck({ tool });
        return (await loadRoom()).toolSignature(await withOutput(tool));
      },
    },
    refresh: (server) => (writing = writing.then(() => writeLearned(server))),
    finished: () => writing,
  };
}
