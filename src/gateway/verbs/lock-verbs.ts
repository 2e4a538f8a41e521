import { compareJson, presentationOf, seenItems, suspicionOf } from '../../approvals/index.js';
import { presented } from '../../catalog/catalog.js';
import { messageOf, ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { LOCK_LISTS, LOCK_VERSION, type Lock, type LockServer } from '../../model/lock.js';
import type { Server } from '../../model/server.js';
import type { DiscoveryOutcome } from '../../catalog/learning/learner.js';
import * as room from '../../lock/index.js';
import type { Core } from '../core.js';
import type { LockDeps } from '../deps.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** Names in one message; more are counted. */
const MAX_NAMED = 10;

/** The verbs of the facet `lock`. */
export function lockVerbs(
  core: Core,
  discover: (servers: readonly string[]) => Promise<DiscoveryOutcome[]>,
): VerbTable<'lock.write' | 'lock.check'> {
  const { deps } = core;

  const parts = (): LockDeps => {
    if (deps.lock) return deps.lock;
    throw new ToolscoutError('CONFIGURATION_ERROR', 'This gateway was created without access to a lock file.', {
      suggestion: 'Open toolscout with createToolscout(); with createGateway(), set deps.lock.',
    });
  };
  const refuse = (
    what: string,
    failures: readonly string[],
    suggestion: string,
    code: 'SERVER_CONNECTION_ERROR' | 'APPROVAL_REQUIRED',
  ): void => {
    if (failures.length === 0) return;
    const named = failures.slice(0, MAX_NAMED).join('; ');
    const more = failures.length > MAX_NAMED ? `; and ${failures.length - MAX_NAMED} more` : '';
    throw new ToolscoutError(code, `${what}: ${named}${more}.`, { suggestion });
  };
  const definitionsOf = (id: string): JsonObject[] =>
    core.catalog.index
      .tools(id)
      .filter(({ provenance }) => provenance === 'protocol')
      .map(({ definition }) => definition as JsonObject);

  /** What every enabled server has now. One that is held because the lock does not know it is not asked. */
  const takeStock = async ({ cleaner, places }: Pick<LockDeps, 'cleaner' | 'places'>): Promise<Lock> => {
    await core.filled();
    const isLocked = core.loaded.config.approval === 'lock';
    const enabled = core.loaded.servers.filter((server) => server.enabled);
    const failures: string[] = [];
    const asked: Server[] = [];
    for (const server of enabled) {
      const hold = core.catalog.hold(server.id);
      if (server.problem !== undefined) failures.push(`${server.id} (${server.problem})`);
      else if (!hold) asked.push(server);
      else if (!isLocked) failures.push(`${server.id} (${hold.reason})`);
    }
    for (const outcome of await discover(asked.map(({ id }) => id))) {
      if (!outcome.ok) failures.push(`${outcome.server} (${messageOf(outcome.error)})`);
    }
    refuse(
      'These servers could not be asked what they have',
      failures,
      'See what is wrong: toolscout doctor.',
      'SERVER_CONNECTION_ERROR',
    );
    const servers: LockServer[] = [];
    for (const server of enabled) {
      const list = asked.includes(server) ? core.catalog.list(server.id) : undefined;
      const named = room.packageIn(server.transport);
      const { protocolVersion } = deps.pool.health(server.id);
      servers.push(
        room.makeLockServer(
          {
            server,
            presentation: list ? presentationOf(presented(list)) : {},
            ...(protocolVersion !== undefined && { protocolVersion }),
            ...(named && { package: { ...named, ...(await room.findInstalled(named, places)) } }),
            tools: list ? definitionsOf(server.id) : [],
            prompts: list?.prompts ?? [],
            resources: list?.resources ?? [],
            resourceTemplates: list?.resourceTemplates ?? [],
          },
          cleaner,
        ),
      );
    }
    return { lockVersion: LOCK_VERSION, servers };
  };
  /** What a person should look at before it is locked: signs of an attack, and what was rejected. */
  const doubtful = (): string[] =>
    core.loaded.servers.flatMap(({ id }) => {
      const list = core.catalog.list(id);
      const tools = core.catalog.index.tools(id).filter(({ provenance }) => provenance === 'protocol');
      const rejected = tools
        .filter(({ hold }) => hold?.cause === 'rejected')
        .map(({ name }) => `${id}:${name} (it was rejected)`);
      const suspect = [...tools, ...(list ? seenItems(list) : [])].flatMap((each) => {
        const hold = suspicionOf(each);
        return hold ? [`${id}:${each.name} (${hold.reason})`] : [];
      });
      return [...rejected, ...suspect];
    });

  return defineVerbs({
    async 'lock.write'(viewer, { includeHeld = false, by } = {}) {
      const { path, write, load, ...rest } = parts();
      if (core.loaded.config.approval === 'lock') {
        throw new ToolscoutError(
          'FORBIDDEN',
          'Cannot write the lock file: this process was started with approval "lock".',
          {
            suggestion: 'Open toolscout with { locking: true }, or run: toolscout lock.',
          },
        );
      }
      const lock = await takeStock(rest);
      if (!includeHeld) {
        refuse(
          'The lock file was not written, because these show signs of an attack or were rejected',
          doubtful(),
          'Review them, then run toolscout lock --include-held, or disable them with a rule.',
          'APPROVAL_REQUIRED',
        );
      }
      const text = room.writeLock(lock);
      const file = path();
      const before = await room.readLockFile(file);
      const changed = !('text' in before) || before.text !== text;
      if (changed) await write(file, text);
      await load();
      const items = lock.servers.reduce(
        (sum, server) => sum + LOCK_LISTS.reduce((all, list) => all + server[list].length, 0),
        0,
      );
      const report = { file, changed, servers: lock.servers.length, items, hash: room.hashOfLock(lock) };
      await deps.audit.recordNow({
        kind: 'lock',
        principal: by ?? viewer.principal,
        outcome: 'success',
        detail: { servers: report.servers, items, hash: report.hash },
      });
      return report;
    },
    async 'lock.check'(_viewer) {
      const { path, ...rest } = parts();
      const file = path();
      const read = await room.readLockFile(file);
      if ('problem' in read) throw room.lockError(read.problem);
      const found = room.compareLocks(read.lock, await takeStock(rest), compareJson);
      const drifts = found.map((drift) => ({ ...drift, line: room.lineOf(read.text, drift) }));
      return { ok: drifts.length === 0, file, drifts };
    },
  });
}
