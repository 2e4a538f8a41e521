import type { ExportOptions, ExportReport, Review } from '../contract/exports.js';
import { dirname, join, resolve } from 'node:path';
import type { ExportFormat, RtfsDialect, Section } from '../../export/index.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { Server } from '../../model/server.js';
import { isFallback, type Tool, type ToolStatus } from '../../model/tool.js';
import type { Core } from '../core.js';
import { inferAll, type OutputInference } from '../../catalog/learning/inference.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { problemOf } from '../../catalog/views.js';
import { isUsable } from '../../catalog/catalog.js';

/** The verbs that export, and the end of what they write on their own. */
export interface Exporting {
  readonly verbs: VerbTable<'exports.write'>;
  /**
   * Writes a server as it stands now: approved tools to `approved/`, the rest to `pending/`. Resolves with the folder in
   * force, or `undefined` when nothing of the server is approved or could be written.
   */
  refresh(server: string): Promise<string | undefined>;
  /** Writes tools of a server that is not approved to `pending/`, for the approver. */
  review(server: Server, tools: readonly Tool[]): Promise<Review>;
  /** Writes the tools that one discovery found, approved ones to `approved/` and the others to `pending/`. */
  write(
    server: Server,
    tools: readonly Tool[],
    options: { readonly directory?: string; readonly introspect?: boolean },
  ): Promise<void>;
  /** Resolves when every list that was learned has been written (DISC-2). */
  finished(): Promise<void>;
}

type Room = typeof import('../../export/index.js');

/** Rarely needed, so it is loaded when it is. */
const loadRoom = (): Promise<Room> => import('../../export/index.js');

/** What people look through may hold tools that wait for approval; what programs call may not. */
const EXPORTED: Readonly<Record<ExportFormat, readonly ToolStatus[]>> = {
  rtfs: ['enabled', 'pending'],
  markdown: ['enabled', 'pending'],
  json: ['enabled'],
  typescript: ['enabled'],
};

/** Whether a tool stands in an export of this format. */
function isExportedAs(format: ExportFormat, tool: Tool): boolean {
  // TypeScript declares what can be called; everywhere else a fallback tool is marked.
  return isFallback(tool) ? format !== 'typescript' : EXPORTED[format].includes(tool.status);
}

/** Where the tools of one server are laid out for approval, and which; those of the catalog by default. */
interface LayOut {
  readonly directory: string;
  readonly dialect: RtfsDialect;
  readonly of?: readonly Tool[];
  /** Whether harmless tools are called to infer what they answer; as the configuration has it by default. */
  readonly introspect?: boolean;
}

/** What became of one server that was laid out for approval. */
interface LaidOut {
  readonly tools: number;
  readonly folder?: string;
  readonly written: number;
  readonly unchanged: number;
}

function checkOptions({ format, directory, file }: ExportOptions): void {
  const complain = (path: string, message: string): never => {
    throw new ToolscoutError('INVALID_REQUEST', `${message}.`, { problems: [{ path, message }] });
  };
  if (!Object.hasOwn(EXPORTED, format))
    complain('format', `The format "${format}" is unknown; expected rtfs, markdown, json or typescript`);
  if (format === 'rtfs' && file !== undefined)
    complain('file', 'The format rtfs writes several files; give directory instead of file');
  if (format !== 'rtfs' && directory !== undefined)
    complain('directory', `The format ${format} writes one file; give file instead of directory`);
}

/** The verbs that export tools; with `exportToRtfs` every list that is learned is written as well. */
export function createExporting(core: Core, outputs: OutputInference): Exporting {
  const { audit, log, promotion } = core.deps;

  /** One server after the other: two writers of one folder would see each other's unfinished files. */
  let writing: Promise<unknown> = Promise.resolve();
  const inOrder = <T>(task: () => Promise<T>): Promise<T> => {
    const done = writing.then(task);
    writing = done.catch(() => undefined);
    return done;
  };

  const sectionFor = async (
    { sectionOf }: Room,
    server: Server,
    isExported: (tool: Tool) => boolean,
    { of = core.catalog.index.tools(server.id), introspect }: { of?: readonly Tool[]; introspect?: boolean } = {},
  ): Promise<Section> => {
    const tools = await inferAll(of.filter(isExported), outputs, introspect);
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
      problemOf(server, { catalog, learner, hide: core.hide }) ?? 'its tools are not known';
    return [
      servers.filter(({ id }) => catalog.list(id)),
      servers.filter(({ id }) => !catalog.list(id)).map((server) => ({ server: server.id, reason: reason(server) })),
    ];
  };

  /** Writes one server: approved tools to `approved/`, the others to `pending/`, and nothing to both (SEC-9). */
  const layOut = async (
    room: Room,
    server: Server,
    { directory, dialect, of = core.catalog.index.tools(server.id), introspect }: LayOut,
  ): Promise<LaidOut> => {
    const source = { of, introspect };
    const isWaiting = (tool: Tool): boolean => tool.status !== 'enabled' && isExportedAs('rtfs', tool);
    const approved = await sectionFor(room, server, ({ status }) => status === 'enabled', source);
    const waiting = await sectionFor(room, server, isWaiting, source);
    const pending = waiting.tools.length > 0 ? room.rtfsFiles(waiting, dialect) : new Map<string, string>();
    const written = pending.size > 0 ? await room.writeRtfs(directory, [waiting], dialect) : undefined;
    const changed = of.filter(({ status, hold }) => status === 'quarantined' && hold?.cause !== 'suspect');
    const kept = new Set(changed.map(({ name }) => room.toolFileOf(name)));
    const isInForce = approved.tools.length > 0 || kept.size > 0;
    const published = await promotion?.publish(
      server.id,
      {
        approved: isInForce ? room.rtfsFiles(approved, dialect) : new Map(),
        pending: new Set(pending.keys()),
        kept,
      },
      directory,
    );
    return {
      tools: approved.tools.length + waiting.tools.length,
      folder: published?.folder,
      written: (written?.written ?? 0) + (published?.written ?? 0),
      unchanged: (written?.unchanged ?? 0) + (published?.unchanged ?? 0),
    };
  };

  /** RTFS as it is laid out for approval. */
  const exportLaidOut = async (room: Room, options: ExportOptions, principal: string): Promise<ExportReport> => {
    const { exportDirectory, rtfsDialect } = core.loaded.config;
    const directory = resolve(exportDirectory);
    const [servers, failed] = await gather(options.servers);
    let [tools, written, unchanged] = [0, 0, 0];
    let approved: string | undefined;
    for (const server of servers) {
      const laid = await inOrder(() => layOut(room, server, { directory, dialect: options.dialect ?? rtfsDialect }));
      tools += laid.tools;
      written += laid.written;
      unchanged += laid.unchanged;
      if (laid.folder !== undefined) approved = dirname(laid.folder);
    }
    const report = { format: options.format, servers: servers.length, tools, failed };
    recordExport(principal, report, directory);
    return { ...report, directory, ...(approved === undefined ? {} : { approved }), written, unchanged };
  };

  const exportTools = async (options: ExportOptions, principal: string): Promise<ExportReport> => {
    checkOptions(options);
    const { format, file, servers: ids } = options;
    const room = await loadRoom();
    if (format === 'rtfs' && options.directory === undefined && promotion)
      return exportLaidOut(room, options, principal);
    const [servers, failed] = await gather(ids);
    const sections = await Promise.all(
      servers.map((server) => sectionFor(room, server, (tool) => isExportedAs(format, tool))),
    );
    const tools = sections.reduce((sum, section) => sum + section.tools.length, 0);
    const report = { format, servers: servers.length, tools, failed };
    if (format === 'rtfs') {
      const { exportDirectory, rtfsDialect } = core.loaded.config;
      const directory = options.directory ?? exportDirectory;
      const written = await room.writeRtfs(directory, sections, options.dialect ?? rtfsDialect);
      recordExport(principal, report, written.directory);
      return { ...report, ...written };
    }
    const existing = file !== undefined && format === 'markdown' ? await room.readPlainFile(file) : undefined;
    const kept = failed.map(({ server }) => server);
    const text = room.exportText(format, sections, { existing, partial: ids !== undefined, kept });
    if (file === undefined) return { ...report, text };
    const isNew = await room.writeExportFile(file, text);
    recordExport(principal, report, file);
    return { ...report, file, written: isNew ? 1 : 0, unchanged: isNew ? 0 : 1 };
  };

  const recordExport = (principal: string, { format, servers, tools }: ExportReport, target: string): void =>
    audit.record({
      kind: 'export',
      principal,
      outcome: 'success',
      detail: { format, servers, tools, target },
    });

  /** Writes a list as it stands now; a failure to write is no failure to learn or to decide. */
  const writeLearned = async (id: string): Promise<string | undefined> => {
    const { exportDirectory, rtfsDialect } = core.loaded.config;
    const server = core.catalog.servers.get(id);
    if (!server || !core.catalog.list(id)) return undefined;
    try {
      const { folder } = await layOut(await loadRoom(), server, { directory: exportDirectory, dialect: rtfsDialect });
      return folder;
    } catch (thrown) {
      log.warn('export.failed', { server: id, reason: core.hide(messageOf(thrown)) });
      return undefined;
    }
  };

  core.events.on((event) => {
    if (event.type === 'learned' && core.loaded.config.exportToRtfs) void inOrder(() => writeLearned(event.server));
  });

  return {
    verbs: defineVerbs({
      'exports.write': ({ principal }, options) => exportTools(options, principal),
    }),
    async write(server, of, { directory: wanted, introspect }) {
      const { exportDirectory, rtfsDialect: dialect } = core.loaded.config;
      const directory = resolve(wanted ?? exportDirectory);
      const room = await loadRoom();
      const laid = await inOrder(() => layOut(room, server, { directory, dialect, of, introspect }));
      recordExport('local', { format: 'rtfs', servers: 1, tools: laid.tools, failed: [] }, directory);
    },
    async review(server, tools) {
      const room = await loadRoom();
      const { exportDirectory: directory, rtfsDialect } = core.loaded.config;
      const shown = tools.filter(({ status }) => status !== 'disabled');
      const section = room.sectionOf({ id: server.id, shown: server.shown, title: server.title }, shown, core.hide);
      const { directory: root } = await inOrder(() => room.writeRtfs(directory, [section], rtfsDialect));
      return {
        directory: join(root, room.fileNameOf(server.id)),
        files: [...room.rtfsFiles(section, rtfsDialect).keys()],
      };
    },
    refresh: (server) => inOrder(() => writeLearned(server)),
    async finished() {
      await writing;
    },
  };
}
