import { ToolscoutError } from '../kernel/errors.js';
import type { Approval } from '../model/approval.js';
import type { Server } from '../model/server.js';
import type { Subject } from '../approvals/index.js';
import type { Core } from './core.js';
import type { Exporting } from './exporting.js';
import type { MarketplaceKeeper } from './marketplace.js';
import type { Gateway } from './verbs.js';

/** Who decides, why, and about exactly what. */
export interface RulingOptions {
  /** Who decides; `local` unless said otherwise. */
  readonly by?: string;
  readonly reason?: string;
  /** Everything of the server that waits, its tools included. */
  readonly all?: boolean;
  /** The beginning of the hash that was looked at; something else is refused. */
  readonly hash?: string;
}

/** What became of a decision. */
export interface RulingReport {
  readonly approvals: readonly Approval[];
  /** Folders whose exported files were promoted. */
  readonly promoted: readonly string[];
  /** Manifests that are in the marketplace now because of it. */
  readonly registered: number;
}

/** Characters of a name or a reason that are kept. */
const LONGEST_TEXT = 500;

/**
 * The verbs of whoever decides what is trusted (SEC-9). `refresh` exports a server as it is offered now, which is what is
 * promoted; `register` puts what was approved into the marketplace.
 */
export function approvalVerbs(
  core: Core,
  refresh: Exporting['refresh'],
  register: MarketplaceKeeper['register'],
): Pick<Gateway, 'listApprovals' | 'approve' | 'reject' | 'diffApproval'> {
  const { audit, clock, promotion } = core.deps;
  const { marketplace } = core;

  /** The server and, when the reference goes on behind it, the tool; an id may itself hold a colon. */
  const locate = (ref: string): { server: Server; tool?: string } => {
    const { servers } = core.catalog;
    const whole = servers.get(ref);
    if (whole) return { server: whole };
    for (let colon = ref.indexOf(':'); colon > 0; colon = ref.indexOf(':', colon + 1)) {
      const server = servers.get(ref.slice(0, colon));
      if (server && colon < ref.length - 1) return { server, tool: ref.slice(colon + 1) };
    }
    const colon = ref.indexOf(':');
    return { server: core.catalog.server(colon > 0 ? ref.slice(0, colon) : ref) };
  };

  /** What a reference means of everything that waits. */
  const subjectsOf = (server: Server, tool: string | undefined, options: RulingOptions): Subject[] => {
    if (tool !== undefined) return [{ about: 'tool', tool }];
    const asked = core.approvals.asked(server);
    if (options.all) return asked;
    return asked.filter(({ about }) => about !== 'tool');
  };

  const nothing = (server: Server): ToolscoutError => {
    const tools = core.approvals.asked(server).filter(({ about }) => about === 'tool').length;
    return new ToolscoutError(
      'NOTHING_FOUND',
      tools > 0
        ? `"${server.id}" itself does not wait for approval; ${tools} of its tools do.`
        : `Nothing of "${server.id}" waits for approval.`,
      {
        suggestion:
          tools > 0
            ? `Name one as ${server.id}:TOOL, or take all with --all.`
            : 'Run toolscout pending to see what waits.',
      },
    );
  };

  const rule = async (
    verb: 'approve' | 'reject',
    ref: string,
    options: RulingOptions,
  ): Promise<{ server: Server; approvals: Approval[] }> => {
    await core.filled();
    const { server, tool } = locate(ref);
    let subjects = subjectsOf(server, tool, options);
    // Rejecting a server that nobody asks about takes back the trust in it.
    if (subjects.length === 0 && verb === 'reject' && !options.all) subjects = [{ about: 'launch' }];
    if (subjects.length === 0) throw nothing(server);
    const by = (options.by ?? 'local').slice(0, LONGEST_TEXT);
    const reason = options.reason?.slice(0, LONGEST_TEXT);
    const ruling = { by, ...(reason ? { reason } : {}), at: clock.now() };
    const expected = options.hash === undefined ? {} : { expected: options.hash };
    const record = {
      kind: verb,
      principal: by,
      server: server.id,
      ...(tool === undefined ? {} : { tool }),
    };
    try {
      const approvals = await core.approvals[verb](server, subjects, { ruling, ...expected });
      core.trust.reconsider([server.id]);
      await audit.recordNow({
        ...record,
        outcome: 'success',
        detail: {
          ...(reason ? { reason } : {}),
          subjects: approvals.slice(0, 100).map(({ ref: each, about, hash }) => ({ ref: each, about, hash })),
          count: approvals.length,
        },
      });
      for (const approval of approvals) core.events.emit({ type: 'approval', approval });
      return { server, approvals };
    } catch (thrown) {
      if (thrown instanceof ToolscoutError && thrown.code !== 'NOTHING_FOUND') {
        audit.record({ ...record, outcome: 'refused', code: thrown.code });
      }
      throw thrown;
    }
  };

  return {
    async listApprovals(filter = {}) {
      await core.filled();
      const { servers } = core.catalog;
      const chosen = filter.server === undefined ? [...servers.values()] : [core.catalog.server(filter.server)];
      return core.approvals
        .list(chosen)
        .filter(({ state }) => filter.state === undefined || state === filter.state)
        .toSorted((a, b) => (a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : a.requestedAt - b.requestedAt));
    },

    async approve(ref, options = {}) {
      const { server, approvals } = await rule('approve', ref, options);
      const isWhole = approvals.some(({ about }) => about === 'launch');
      const tools = approvals.map(({ tool }) => tool).filter((tool) => tool !== undefined);
      // A server that may start now is learned at once; what it lists within a moment is registered with it.
      if (isWhole) await core.learner.settle([server.id], core.loaded.config.limits.searchWaitMs);
      const isExported = core.loaded.config.exportToRtfs || (await promotion?.isPending(server.id));
      // What lies there may be older than what was just approved.
      if (isExported) await refresh(server.id);
      const promoted = await promotion?.promote(server.id, isWhole ? undefined : tools);
      const registered = await register(server.id, isWhole ? undefined : new Set(tools));
      return { approvals, promoted: promoted === undefined ? [] : [promoted], registered };
    },

    async reject(ref, options = {}) {
      const { server, approvals } = await rule('reject', ref, options);
      const isWhole = approvals.some(({ about }) => about === 'launch');
      const tools = approvals.map(({ tool }) => tool).filter((tool) => tool !== undefined);
      if (isWhole || tools.length > 0) await marketplace.withdraw(server.id, isWhole ? undefined : new Set(tools));
      return { approvals, promoted: [], registered: 0 };
    },

    async diffApproval(ref) {
      await core.filled();
      const { server, tool } = locate(ref);
      if (tool !== undefined) return [await core.approvals.diff(server, { about: 'tool', tool })];
      const asked = core.approvals.asked(server);
      if (asked.length === 0) throw nothing(server);
      return Promise.all(asked.map((subject) => core.approvals.diff(server, subject)));
    },
  };
}
