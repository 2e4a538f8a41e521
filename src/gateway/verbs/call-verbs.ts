import {
  approvalCheck,
  bindingCheck,
  createArgumentValidator,
  createExecutor,
  createReadOnlyCheck,
  ruleCheck,
  streamCall,
  type CallEvent,
  type Check,
  type Confirmation,
} from '../../execute/index.js';
import { OWN_SERVER } from '../../answers/index.js';
import { addressOf } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { oneLine } from '../../kernel/text.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Call, CallResult } from '../../model/call.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { OpenRow, Traffic } from '../traffic.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';
import { signatureOf } from '../../normalize/index.js';
import { isStandIn } from '../../catalog/catalog.js';
import { createReadOnlyJudge } from '../../catalog/read-only.js';
import type { Admission } from '../admission.js';
import type { Core } from '../core.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import type { HostCallOptions } from '../contract/options.js';
import { isUsable } from '../../catalog/catalog.js';
import { callerOf, isHidden, requireVisible } from '../viewer.js';

/** Who may use what on behalf of a skill. */
export interface Bindings {
  /** Resolves when the skills have been read. */
  loaded(): Promise<void>;
  /** Whether there is such a skill, once they have been read. */
  has(skill: string): boolean;
  /**
   * @throws ToolscoutError `SKILL_NOT_FOUND` with the nearest name, when there is no such skill.
   */
  require(skill: string): void;
}

/** The verbs that run a tool. All calls take this path, which applies every check. */
export function callVerbs(
  core: Core,
  skills: Bindings,
  {
    confirmation,
    traffic,
    admission,
  }: { readonly confirmation: Confirmation; readonly traffic: Traffic; readonly admission: Admission },
): VerbTable<'call' | 'stream'> {
  const { clock, log, pool, audit, redaction } = core.deps;
  const { own } = core;
  /** The own tools show a skill only what its calls gave. */
  const unlessOwn =
    (check: Check): Check =>
    (subject) =>
      subject.server === own.server ? undefined : check(subject);
  /** The tool of a call; for one that the viewer may not see, the error suggests tools that the viewer sees. */
  const toolOf = ({ viewer, server, tool }: Call): Tool => {
    const found = core.catalog.find(server, tool);
    // What no binding of a skill covers is refused by the checks.
    if (found && (!viewer.isLimited || callerOf(viewer).sees(server, found.name))) return found;
    return core.catalog.tool(server, tool, viewer.sees);
  };
  const executor = createExecutor({
    clock,
    hide: core.hide,
    resolve: (call) => {
      if (call.server === OWN_SERVER) return { server: own.server, tool: own.tool(call.tool) };
      requireVisible(call.viewer, call.server, core.catalog);
      if (call.viewer.skill) skills.require(call.viewer.skill.id);
      return { server: core.usable(call.server), tool: toolOf(call) };
    },
    signature: signatureOf,
    checks: [ruleCheck, approvalCheck, unlessOwn(bindingCheck), createReadOnlyCheck(createReadOnlyJudge())],
    validate: createArgumentValidator({
      onUnchecked: (tool, reason) => log.warn('execute.unchecked', { server: tool.server, tool: tool.name, reason }),
    }),
    confirmation: {
      // Most calls have no rule that asks and are no later round of one that was asked about.
      needed: (subject) =>
        (subject.tool.confirm !== undefined || subject.call.resumed !== undefined) &&
        subject.server !== own.server &&
        confirmation.needed(subject),
      clear: (subject, onAsking) => confirmation.clear(subject, onAsking),
    },
    outgoing: (server) => (redaction.hasRules ? redaction.outgoing(server) : undefined),
    incoming: (server) => (redaction.hasRules ? redaction.incoming(server) : undefined),
    prepareOn: (server, upstream, { host }) => core.checkConnection(server, upstream, host),
    send(server, request, call) {
      if (server === own.server) return own.run(call);
      return traffic.isOn ? traffic.send(server, request, call, pool.call) : pool.call(server, request, call);
    },
    answering: own.answering,
    record(entry, call) {
      audit.record(entry);
      if (traffic.isOn) traffic.note(call, entry);
      logCall(log, 'call', entry);
      // Only what worked is learned from; a refused or failed call says nothing good about its search.
      if (entry.outcome === 'success')
        core.experience.noteSuccess(entry.principal, addressOf(entry.server, entry.tool));
    },
  });

  // Field by field and complete: a spread with fields after it costs as much as half of the call's checks.
  const callOf = (viewer: Viewer, server: string, tool: string, args: JsonObject, options: HostCallOptions): Call =>
    ({
      server,
      tool,
      arguments: args,
      viewer,
      principal: viewer.principal,
      route: options.route ?? 'library',
      traceId: options.traceId,
      parent: options.parent,
      meta: options.meta,
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      onProgress: options.onProgress,
      readOnly: options.readOnly,
      host: options.host,
      hostName: options.hostName,
      resumed: options.resumed,
      problems: options.problems,
      wordFailure: options.wordFailure,
      select: options.select,
      budget: options.budget ?? options.maxTokens,
    }) satisfies { [Field in keyof Required<Call>]: Call[Field] };

  /** Whether a server's own list is known; what stands in for one does not count. */
  const isListed = (server: string): boolean => {
    const list = core.catalog.list(server);
    return !core.deps.refreshFirst && list !== undefined && !isStandIn(list);
  };

  /** Runs a call once it is admitted; a refusal is its answer. */
  const admitted = async (call: Call): Promise<CallResult> => {
    const entered = admission.enter(call);
    try {
      return await executor.execute(call, () => (entered ? entered.then(() => prepare(call)) : prepare(call)));
    } finally {
      admission.leave(call.principal);
      // The connection is open now, so a list that is old costs one cheap question.
      const { server, viewer, host } = call;
      if (!isHidden(viewer, server, core.catalog)) core.relistAfterCall(server, host);
    }
  };

  /** Learns the server first when it must be; a failure to learn is the answer of the call. */
  const prepare = (call: Call): Promise<void> | undefined => {
    // It will be refused; nothing may be started for it.
    if (call.server === OWN_SERVER || isHidden(call.viewer, call.server, core.catalog)) return undefined;
    if (!call.viewer.skill && isListed(call.server)) return undefined;
    return learnFirst(call);
  };

  const learnFirst = async (call: Call): Promise<void> => {
    const { skill } = call.viewer;
    if (skill) {
      await skills.loaded();
      if (!skills.has(skill.id)) return;
    }
    if (isListed(call.server)) return;
    await core.filled();
    if (isListed(call.server)) return;
    const server = core.catalog.servers.get(call.server);
    if (server && isUsable(server)) await core.known(call.server);
  };

  return defineVerbs({
    async call(viewer, server, tool, args, options = {}) {
      const call = callOf(viewer, server, tool, args, options);
      // A call of a host belongs to the request of its host; others have a row of their own.
      const row = traffic.isOn ? traffic.attach(call) : undefined;
      const outcome = await admitted(call);
      if (row) endRow(row, outcome);
      return outcome;
    },

    stream(viewer, server, tool, args, options = {}) {
      const call = callOf(viewer, server, tool, args, options);
      const row = traffic.isOn ? traffic.attach(call) : undefined;
      const events = streamCall(call, admitted);
      return row ? watchEvents(events, row) : events;
    },
  });
}

/** Notes how a call ended. */
function endRow(row: OpenRow, { result, error }: CallResult): void {
  if (result) row.succeed(error ? { ...result, isError: true } : result);
  else row.fail(error && new ToolscoutError(error.code, error.message));
}

/** The events of a call, whose end is noted; a stream that is abandoned counts as cancelled. */
async function* watchEvents(events: AsyncIterable<CallEvent>, row: OpenRow): AsyncGenerator<CallEvent, undefined> {
  let isOver = false;
  try {
    for await (const event of events) {
      if (event.type === 'result') {
        isOver = true;
        endRow(row, event.result);
      }
      yield event;
    }
    return undefined;
  } finally {
    if (!isOver) row.fail(new ToolscoutError('CANCELLED', 'The call was cancelled.'));
  }
}

/** Characters of a name that a caller chose. */
const MAX_NAME = 128;

/** One line for a call or another request to a server: who asked, what for and how it ended; never what was sent or answered. */
export function logCall(
  log: Log,
  event: 'call' | 'relay',
  entry: Partial<
    Pick<
      AuditRecord,
      | 'server'
      | 'tool'
      | 'outcome'
      | 'code'
      | 'latencyMs'
      | 'waitedMs'
      | 'askedMs'
      | 'principal'
      | 'route'
      | 'skill'
      | 'traceId'
      | 'kind'
    >
  >,
): void {
  log.info(event, {
    server: oneLine(entry.server ?? '', MAX_NAME),
    tool: entry.tool === undefined ? undefined : oneLine(entry.tool, MAX_NAME),
    method: event === 'relay' ? entry.kind : undefined,
    outcome: entry.outcome,
    code: entry.code,
    ms: entry.latencyMs === undefined ? undefined : Math.round(entry.latencyMs),
    waited_ms: entry.waitedMs,
    asked_ms: entry.askedMs === undefined ? undefined : Math.round(entry.askedMs),
    principal: entry.principal,
    route: entry.route,
    skill: entry.skill,
    trace_id: entry.traceId,
  });
}
