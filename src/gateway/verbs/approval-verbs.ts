import type { RulingOptions, SkippedApproval, RulingReport } from '../contract/approvals.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Approval } from '../../model/approval.js';
import type { Server } from '../../model/server.js';
import type { Viewer } from '../../model/viewer.js';
import { checkHash, createShownRequests, type ChosenSubject } from '../../approvals/index.js';
import type { Core } from '../core.js';
import type { Exporting } from './export-verbs.js';
import type { MarketplaceKeeper } from './marketplace.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import { requireServer } from '../viewer.js';
import { isUsable } from '../../catalog/catalog.js';
import { showApproval, showDiff } from '../reports/shown-approval.js';

const SKIPPED_BECAUSE: Readonly<Record<SkippedApproval['reason'], string>> = {
  critical: 'critical risk',
  changed: 'changed since it was shown to you',
  'not-shown': 'not shown to you yet',
};

/** Characters of a name or a reason that are kept. */
const MAX_TEXT = 500;

/** Calls of each outcome that are counted. */
const MAX_COUNTED = 1000;

/** A decision with the name of the person who makes it. */
type Ruling = RulingOptions & { readonly by: string };

/** A decision is the viewer's unless it is said to be another's. */
const rulingOf = ({ principal }: Viewer, options: RulingOptions = {}): Ruling => ({
  ...options,
  by: options.by ?? principal,
});

/**
 * The verbs of approvers (SEC-9). `refresh` exports a server as it is offered now, which is what is promoted;
 * `register` puts approved items into the marketplace.
 */
export function approvalVerbs(
  core: Core,
  refresh: Exporting['refresh'],
  register: MarketplaceKeeper['register'],
): VerbTable<'approvals.list' | 'approvals.approve' | 'approvals.reject' | 'approvals.diff'> {
  const { audit, clock, promotion } = core.deps;
  const { marketplace } = core;

  /** The server and, when the reference goes on behind it, the tool; an id may itself hold a colon. */
  const locate = (viewer: Viewer, ref: string): { server: Server; tool?: string } => {
    const seen = (id: string): Server | undefined => (viewer.sees(id) ? core.catalog.servers.get(id) : undefined);
    const whole = seen(ref);
    if (whole) return { server: whole };
    for (let colon = ref.indexOf(':'); colon > 0; colon = ref.indexOf(':', colon + 1)) {
      const server = seen(ref.slice(0, colon));
      if (server && colon < ref.length - 1) return { server, tool: ref.slice(colon + 1) };
    }
    const colon = ref.indexOf(':');
    const id = colon > 0 ? ref.slice(0, colon) : ref;
    requireServer(viewer, id, core.catalog);
    return { server: core.catalog.server(id) };
  };

  const shown = createShownRequests({ store: core.deps.store, log: core.deps.log });

  const subjectOf = ({ about, tool }: Approval, expected?: string): ChosenSubject => {
    const named = expected === undefined ? {} : { expected };
    return about === 'tool' ? { about, tool: tool ?? '', ...named } : { about, ...named };
  };

  /** Everything of a server that waits, was rejected or has expired. */
  const askedOf = (server: Server): Approval[] =>
    core.approvals.list([server]).filter(({ state }) => state !== 'approved' && state !== 'superseded');

  /** What was approved of a server itself, by its hash: that is taken back, whatever else of the server waits or was rejected. */
  const approvedAs = (server: Server, hash: string | undefined): Approval | undefined =>
    hash === undefined
      ? undefined
      : core.approvals
          .list([server])
          .find((each) => each.state === 'approved' && each.about !== 'tool' && each.hash.startsWith(checkHash(hash)));

  /** The requests of a reference, before they are compared with what was shown. */
  const requestsFor = (asked: readonly Approval[], tool: string | undefined, { all, hash }: RulingOptions) => {
    const pending = asked.filter(({ state }) => state === 'pending');
    if (all) return pending;
    if (tool !== undefined) return asked.filter((approval) => approval.tool === tool);
    const own = asked.filter(({ about }) => about !== 'tool');
    const named = hash === undefined ? [] : own.filter((approval) => approval.hash.startsWith(checkHash(hash)));
    if (named.length > 0) return named;
    // What was rejected is approved only by name, and only when nothing else of the server waits.
    const waiting = own.filter(({ state }) => state === 'pending');
    return waiting.length > 0 ? waiting : own;
  };

  const notShown = (approval: Approval): ToolscoutError =>
    new ToolscoutError(
      'APPROVAL_REQUIRED',
      `"${approval.ref}" is not approved, because you have not looked at this request yet.`,
      {
        remedy: { kind: 'look-first', ref: approval.ref },
      },
    );

  /** What is decided about, each with the hash that it must still have when the decision is written (A41). */
  const choose = async (
    verb: 'approve' | 'reject',
    server: Server,
    tool: string | undefined,
    options: Ruling,
  ): Promise<{ subjects: ChosenSubject[]; skipped: SkippedApproval[] }> => {
    const { all, hash, by, requireShown = false, includeCritical = false } = options;
    if (hash !== undefined) checkHash(hash);
    if (all && hash !== undefined) {
      throw new ToolscoutError('INVALID_REQUEST', 'Give either a hash or "all", not both: a hash names one request.');
    }
    const takenBack = verb === 'reject' && tool === undefined ? approvedAs(server, hash) : undefined;
    if (takenBack) return { subjects: [subjectOf(takenBack, hash)], skipped: [] };
    const requests = requestsFor(askedOf(server), tool, options);
    if (requests.length === 0 && tool !== undefined && !all) {
      return { subjects: [{ about: 'tool', tool, ...(hash === undefined ? {} : { expected: hash }) }], skipped: [] };
    }
    if (hash !== undefined) return { subjects: requests.map((each) => subjectOf(each, hash)), skipped: [] };
    if (verb === 'reject') return { subjects: requests.map((each) => subjectOf(each)), skipped: [] };
    const seenBy = await shown.recall(by);
    const subjects: ChosenSubject[] = [];
    const skipped: SkippedApproval[] = [];
    for (const request of requests) {
      const seen = seenBy(request);
      const reason =
        seen === undefined && requireShown
          ? 'not-shown'
          : seen !== undefined && seen !== request.hash
            ? 'changed'
            : all && !includeCritical && request.risk.level === 'critical'
              ? 'critical'
              : undefined;
      if (all && reason) skipped.push({ ref: request.ref, hash: request.hash, reason });
      else if (reason === 'not-shown') throw notShown(request);
      else subjects.push(subjectOf(request, seen ?? request.hash));
    }
    return { subjects, skipped };
  };

  const allSkipped = (server: Server, skipped: readonly SkippedApproval[]): ToolscoutError => {
    const named = skipped.slice(0, 5).map(({ ref, reason }) => `${ref} (${SKIPPED_BECAUSE[reason]})`);
    const more = skipped.length > named.length ? ` and ${skipped.length - named.length} more` : '';
    const isCritical = skipped.every(({ reason }) => reason === 'critical');
    return new ToolscoutError('APPROVAL_REQUIRED', `Nothing was approved: ${named.join(', ')}${more}.`, {
      remedy: isCritical ? { kind: 'approve-each', server: server.id } : { kind: 'look-at-each' },
    });
  };

  /**
   * The tools that were reviewed together with a server that is not used yet. With `trust-first` they are approved with
   * it, exactly as they were reviewed; one of critical risk is decided about by itself.
   */
  const reviewedWith = async (
    server: Server,
    subjects: readonly ChosenSubject[],
    { by, requireShown = false }: Ruling,
  ): Promise<ChosenSubject[]> => {
    if (core.loaded.config.approval !== 'trust-first') return [];
    if (!subjects.some(({ about }) => about === 'launch') || subjects.some(({ about }) => about === 'tool')) return [];
    const seenBy = await shown.recall(by);
    const isReviewed = (approval: Approval): boolean => {
      const seen = seenBy(approval);
      return seen === undefined ? !requireShown : seen === approval.hash;
    };
    return askedOf(server)
      .filter(({ about, state, risk }) => about === 'tool' && state === 'pending' && risk.level !== 'critical')
      .filter(isReviewed)
      .map((approval) => subjectOf(approval, approval.hash));
  };

  const nothing = (server: Server): ToolscoutError => {
    const tools = core.approvals.asked(server).filter(({ about }) => about === 'tool').length;
    return new ToolscoutError(
      'NOTHING_FOUND',
      tools > 0
        ? `Server "${server.id}" is approved; ${tools} of its tools are not.`
        : `Server "${server.id}" has no pending approval request.`,
      {
        remedy: tools > 0 ? { kind: 'name-tools', server: server.id } : { kind: 'list-pending' },
      },
    );
  };

  const rule = async (
    viewer: Viewer,
    verb: 'approve' | 'reject',
    ref: string,
    options: Ruling,
  ): Promise<{ server: Server; approvals: Approval[]; skipped: SkippedApproval[] }> => {
    await core.filled();
    const { server, tool } = locate(viewer, ref);
    const chosen = await choose(verb, server, tool, options);
    const { skipped } = chosen;
    let { subjects } = chosen;
    // Rejecting a server without a pending request revokes its trust.
    if (subjects.length === 0 && verb === 'reject' && !options.all) subjects = [{ about: 'launch' }];
    if (subjects.length === 0) throw skipped.length > 0 ? allSkipped(server, skipped) : nothing(server);
    const by = options.by.slice(0, MAX_TEXT);
    const reason = options.reason?.slice(0, MAX_TEXT);
    const ruling = { by, ...(reason ? { reason } : {}), at: clock.now() };
    const record = {
      kind: verb,
      principal: by,
      server: server.id,
      ...(tool === undefined ? {} : { tool }),
      ...(options.traceId === undefined ? {} : { traceId: options.traceId }),
    };
    try {
      const reviewed = verb === 'approve' ? await reviewedWith(server, subjects, options) : [];
      const approvals = await core.approvals[verb](server, [...subjects, ...reviewed], { ruling });
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
      return { server, approvals, skipped };
    } catch (thrown) {
      if (thrown instanceof ToolscoutError && thrown.code !== 'NOTHING_FOUND') {
        audit.record({ ...record, outcome: 'refused', code: thrown.code });
      }
      throw thrown;
    }
  };

  /** Brings exported files in line with what was decided; answers the folder of approved files. */
  const layOut = async (server: string, isWhole: boolean): Promise<string | undefined> => {
    const isExported = core.loaded.config.exportToRtfs || (await promotion?.isExported(server));
    if (!isExported) return undefined;
    if (core.catalog.list(server)) return refresh(server);
    // Its tools are not known yet, so what was reviewed is what was approved.
    return isWhole ? promotion?.promote(server) : undefined;
  };

  /**
   * Promotes exported files of items that are trusted already and have no pending request; `undefined` when there are
   * none.
   */
  const promoteTrusted = async (viewer: Viewer, ref: string, options: Ruling): Promise<RulingReport | undefined> => {
    await core.filled();
    const { server, tool } = locate(viewer, ref);
    const subjects = core.approvals.asked(server);
    const isAsked = subjects.some(
      (subject) => tool === undefined || (subject.about === 'tool' && subject.tool === tool),
    );
    const isTrusted = tool === undefined || core.catalog.index.tool(server.id, tool)?.status === 'enabled';
    if (isAsked || !isTrusted || !isUsable(server) || !(await promotion?.isPending(server.id))) return undefined;
    await core.known(server.id);
    const folder = await layOut(server.id, false);
    if (folder === undefined) return undefined;
    const registered = await register(server.id, tool === undefined ? undefined : new Set([tool]));
    const by = options.by.slice(0, MAX_TEXT);
    const { traceId } = options;
    const detail = { folder };
    await audit.recordNow({ kind: 'export', principal: by, traceId, server: server.id, outcome: 'success', detail });
    return { approvals: [], skipped: [], promoted: [folder], registered };
  };

  /** Calls that may have met a change before it was noticed: its exact moment is known to the server alone. */
  const callsMeanwhile = async ({ server, tool, about, confirmedAt, requestedAt }: Approval) => {
    if (confirmedAt === undefined || about === 'launch') return {};
    // Prompts and resources are not called.
    if (tool !== undefined && !core.catalog.index.tool(server, tool)) return {};
    const found = await Promise.all(
      (['success', 'failure'] as const).map((outcome) =>
        audit.query({ kind: 'execution', server, tool, outcome, since: confirmedAt, limit: MAX_COUNTED }),
      ),
    );
    const count = found.flat().filter(({ time }) => time <= requestedAt).length;
    const isMore = found.some(({ length }) => length === MAX_COUNTED);
    return { calls: { since: confirmedAt, until: requestedAt, count, ...(isMore && { isMore: true as const }) } };
  };

  return defineVerbs({
    async 'approvals.list'(viewer, filter = {}) {
      if (filter.server !== undefined) requireServer(viewer, filter.server, core.catalog);
      await core.filled();
      const { servers } = core.catalog;
      const chosen = filter.server === undefined ? [...servers.values()] : [core.catalog.server(filter.server)];
      const approvals = core.approvals
        .list(chosen)
        .filter(({ server, state }) => viewer.sees(server) && (filter.state === undefined || state === filter.state))
        .toSorted((a, b) => (a.ref < b.ref ? -1 : a.ref > b.ref ? 1 : a.requestedAt - b.requestedAt));
      const { shownTo = viewer.principal } = filter;
      if (shownTo !== false) await shown.note(shownTo, approvals);
      return approvals.map((approval) => showApproval(viewer, approval));
    },

    async 'approvals.approve'(viewer, ref, asked) {
      const options = rulingOf(viewer, asked);
      const exported = await promoteTrusted(viewer, ref, options);
      if (exported) return exported;
      const { server, approvals, skipped } = await rule(viewer, 'approve', ref, options);
      const isWhole = approvals.some(({ about }) => about === 'launch');
      const tools = approvals.map(({ tool }) => tool).filter((tool) => tool !== undefined);
      // A server that may start now is learned at once; what it lists within a moment is registered with it.
      if (isWhole) await core.learner.settle([server.id], core.loaded.config.limits.searchWaitMs);
      const promoted = await layOut(server.id, isWhole);
      const registered = await register(server.id, isWhole ? undefined : new Set(tools));
      return { approvals, skipped, promoted: promoted === undefined ? [] : [promoted], registered };
    },

    async 'approvals.reject'(viewer, ref, options) {
      const { server, approvals } = await rule(viewer, 'reject', ref, rulingOf(viewer, options));
      const isWhole = approvals.some(({ about }) => about === 'launch');
      const tools = approvals.map(({ tool }) => tool).filter((tool) => tool !== undefined);
      if (isWhole || tools.length > 0) await marketplace.withdraw(server.id, isWhole ? undefined : new Set(tools));
      if (isWhole) await promotion?.withdraw(server.id);
      else await layOut(server.id, false);
      return { approvals, skipped: [], promoted: [], registered: 0 };
    },

    async 'approvals.diff'(viewer, ref, { shownTo = viewer.principal } = {}) {
      await core.filled();
      const { server, tool } = locate(viewer, ref);
      const asked = tool === undefined ? core.approvals.asked(server) : [{ about: 'tool' as const, tool }];
      if (asked.length === 0) throw nothing(server);
      const diffs = await Promise.all(asked.map((subject) => core.approvals.diff(server, subject)));
      if (shownTo !== false) {
        await shown.note(
          shownTo,
          diffs.map(({ approval }) => approval),
        );
      }
      return Promise.all(
        diffs.map(async (diff) => showDiff(viewer, { ...diff, ...(await callsMeanwhile(diff.approval)) })),
      );
    },
  });
}
