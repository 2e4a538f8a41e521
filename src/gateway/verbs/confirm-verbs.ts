import { compileSelection } from '../../answers/index.js';
import { createConfirmer, createWebhook, type Confirmer } from '../../confirm/index.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import type { PendingCall } from '../../model/pending-call.js';
import { isDestructive } from '../../model/tool.js';
import { LOCAL } from '../../model/principal.js';
import type { Viewer } from '../../model/viewer.js';
import type { Core } from '../core.js';
import type { CallRulingOptions } from '../contract/pending-calls.js';
import { requireServer } from '../viewer.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** Asks for confirmation before calls are sent, and the verbs of the people who answer (SEC-11). */
export interface Confirming {
  readonly confirmer: Confirmer;
  readonly verbs: VerbTable<'approvals.calls' | 'approvals.approveCall' | 'approvals.rejectCall'>;
}

/** Characters of a name or a reason that are kept. */
const MAX_TEXT = 500;
/** Expressions that are kept compiled; a config has few. */
const MAX_EXPRESSIONS = 1000;

/** What JMESPath counts as false. */
function isFalse(value: unknown): boolean {
  if (value === null || value === false || value === '') return true;
  return typeof value === 'object' && Object.keys(value as object).length === 0;
}

/** Judges arguments by expressions, each compiled once. */
function createJudge(): (expression: string, args: JsonObject) => boolean {
  const compiled = new Map<string, ReturnType<typeof compileSelection>>();
  return (expression, args) => {
    const selection = compiled.get(expression) ?? compileSelection(expression);
    if (compiled.size >= MAX_EXPRESSIONS) compiled.clear();
    compiled.set(expression, selection);
    const selected = selection.apply(args);
    if ('problem' in selected) throw new ToolscoutError('INVALID_REQUEST', selected.problem);
    return !isFalse(selected.value);
  };
}

/** Asks before calls are sent, over the store of this gateway. */
export function createConfirming(core: Core): Confirming {
  const { store, clock, log, audit, redaction } = core.deps;
  const confirmer = createConfirmer({
    store,
    clock,
    log,
    config: () => core.loaded.config.confirm,
    redact: (value, server) => redaction.stored(value, server),
    selects: createJudge(),
    webhook: createWebhook({ fetch: core.deps.fetch ?? fetch, clock, log }),
    note: ({ decision, by, via, asked, id, reason }) =>
      audit.recordNow({
        kind: 'confirm',
        principal: by.slice(0, MAX_TEXT),
        route: asked.call.route,
        skill: asked.call.viewer.skill?.id,
        server: asked.server.id,
        tool: asked.tool.name,
        arguments: asked.call.arguments,
        outcome: decision === 'rejected' || decision === 'unanswered' ? 'refused' : 'success',
        traceId: asked.call.traceId,
        parent: asked.call.parent,
        detail: {
          decision,
          via,
          caller: asked.call.viewer.principal,
          ...(asked.call.hostName !== undefined && { host: asked.call.hostName }),
          rule: asked.rule.reason,
          ...(id !== undefined && { id }),
          ...(reason !== undefined && { reason }),
        },
      }),
  });

  /** A caller may not confirm their own call, except on their own machine, where there is no other person. */
  const permit = (viewer: Viewer) => (pending: PendingCall) => {
    if (viewer.principal !== pending.principal || viewer.principal === LOCAL.name) return;
    throw new ToolscoutError(
      'FORBIDDEN',
      `"${viewer.principal}" made the call ${pending.id} and cannot decide about it.`,
      {
        suggestion: 'Ask another administrator to decide.',
      },
    );
  };

  const decide = async (
    viewer: Viewer,
    id: string,
    verdict: 'approved' | 'rejected',
    { by, reason, traceId }: CallRulingOptions = {},
  ): Promise<PendingCall> => {
    // Only on one's own machine may a program enter another person's decision.
    const who = viewer.principal === LOCAL.name ? (by ?? viewer.principal) : viewer.principal;
    const act = { kind: 'confirm', principal: who.slice(0, MAX_TEXT), traceId } as const;
    const why = reason?.slice(0, MAX_TEXT);
    try {
      const ruling = { by: act.principal, ...(why && { reason: why }), at: clock.now(), via: 'operator' as const };
      const decided = await confirmer.pending.decide(id, verdict, ruling, permit(viewer));
      const { server, tool, principal: caller, host, argumentsHash, rule } = decided;
      const detail = {
        decision: verdict,
        via: 'operator',
        id,
        caller,
        ...(host !== undefined && { host }),
        rule,
        argumentsHash,
        ...(why && { reason: why }),
      };
      await audit.recordNow({ ...act, server, tool, outcome: 'success', detail });
      return decided;
    } catch (thrown) {
      if (thrown instanceof ToolscoutError && thrown.code === 'FORBIDDEN') {
        await audit.recordNow({ ...act, outcome: 'refused', code: thrown.code, detail: { id: id.slice(0, MAX_TEXT) } });
      }
      throw thrown;
    }
  };

  return {
    confirmer,
    verbs: defineVerbs({
      async 'approvals.calls'(viewer, filter = {}) {
        if (filter.server !== undefined) requireServer(viewer, filter.server, core.catalog);
        const calls = await confirmer.pending.list();
        return calls
          .filter(
            ({ server, tool, state }) =>
              viewer.sees(server, tool) &&
              (filter.server === undefined || filter.server === server) &&
              (filter.state === undefined || filter.state === state),
          )
          .map((call) => {
            const found = core.catalog.find(call.server, call.tool);
            return found && isDestructive(found.definition) ? { ...call, destructive: true } : call;
          });
      },
      'approvals.approveCall': (viewer, id, options) => decide(viewer, id, 'approved', options),
      'approvals.rejectCall': (viewer, id, options) => decide(viewer, id, 'rejected', options),
    }),
  };
}
