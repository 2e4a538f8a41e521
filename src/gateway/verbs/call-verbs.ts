import {
  approvalCheck,
  bindingCheck,
  createArgumentValidator,
  createExecutor,
  ruleCheck,
} from '../../execute/index.js';
import { addressOf } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Log } from '../../kernel/log.js';
import { oneLine } from '../../kernel/text.js';
import type { AuditRecord } from '../../model/audit-record.js';
import type { Call } from '../../model/call.js';
import { signatureOf } from '../../normalize/index.js';
import type { Namable } from '../../catalog/catalog.js';
import { isStandIn } from '../../catalog/catalog.js';
import type { Core } from '../core.js';
import type { Gateway } from '../contract.js';
import type { CallOptions } from '../contract/options.js';
import { isUsable } from '../../catalog/views.js';
import { isHidden, noServer, visibleTo } from '../visibility.js';

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
  covers(skill: string, server: string, tool: string): boolean;
}

/** The verbs that run a tool: through the one guarded door, never around it. */
export function executionVerbs(core: Core, skills: Bindings): Pick<Gateway, 'executeTool' | 'executeStream'> {
  const { clock, log, pool, audit, redaction } = core.deps;
  /** What may be named to a caller who asked for a tool that is none. */
  const namableFor =
    ({ servers, skill }: Call): Namable =>
    (server, tool) =>
      (servers?.has(server) ?? true) && (skill === undefined || skills.covers(skill, server, tool));
  const executor = createExecutor({
    clock,
    hide: core.hide,
    resolve: (call) => {
      if (isHidden(call.server, call, core)) throw noServer(call.server, visibleTo(call, core));
      if (call.skill !== undefined) skills.require(call.skill);
      const server = core.usable(call.server);
      const tool = core.catalog.find(call.server, call.tool);
      return { server, tool: tool ?? core.catalog.tool(call.server, call.tool, namableFor(call)) };
    },
    signature: signatureOf,
    checks: [ruleCheck, approvalCheck, bindingCheck(skills.covers)],
    validate: createArgumentValidator({
      onUnchecked: (tool, reason) => log.warn('execute.unchecked', { server: tool.server, tool: tool.name, reason }),
    }),
    outgoing: (server) => redaction.outgoing(server),
    incoming: (server) => redaction.incoming(server),
    send: pool.call,
    record(entry) {
      audit.record(entry);
      logCall(log, 'call', entry);
      // Only what worked is learned from; a refused or failed call says nothing good about its search.
      if (entry.outcome === 'success')
        core.experience.noteSuccess(entry.principal, addressOf(entry.server, entry.tool));
    },
  });

  // Field by field and complete: a spread with fields after it costs as much as half of the call's checks.
  const callOf = (server: string, tool: string, args: JsonObject, options: CallOptions): Call =>
    ({
      server,
      tool,
      arguments: args,
      principal: options.principal ?? 'local',
      route: options.route ?? 'library',
      servers: options.servers,
      skill: options.skill,
      traceId: options.traceId,
      meta: options.meta,
      timeoutMs: options.timeoutMs,
      signal: options.signal,
      onProgress: options.onProgress,
      host: options.host,
      resumed: options.resumed,
      problems: options.problems,
    }) satisfies { [Field in keyof Required<Call>]: Call[Field] };

  /** Whether a server's own list is known; what stands in for one does not count. */
  const isListed = (server: string): boolean => {
    const list = core.catalog.list(server);
    return !core.deps.refreshFirst && list !== undefined && !isStandIn(list);
  };

  /** Learns the server first when it must be; a failure to learn is the answer of the call. */
  const prepare = (call: Call): Promise<void> | undefined => {
    // It will be refused; nothing may be started for it.
    if (isHidden(call.server, call, core)) return undefined;
    if (call.skill === undefined && isListed(call.server)) return undefined;
    return learnFirst(call);
  };

  const learnFirst = async (call: Call): Promise<void> => {
    if (call.skill !== undefined) {
      await skills.loaded();
      if (!skills.has(call.skill)) return;
    }
    if (isListed(call.server)) return;
    await core.filled();
    if (isListed(call.server)) return;
    const server = core.catalog.servers.get(call.server);
    if (server && isUsable(server)) await core.known(call.server);
  };

  return {
    async executeTool(server, tool, args, options = {}) {
      const call = callOf(server, tool, args, options);
      const outcome = await executor.execute(call, () => prepare(call));
      // The connection is open now, so a list that is out of date costs one cheap question.
      if (core.catalog.list(server)?.stale && !isHidden(server, call, core)) {
        core.relistAfterCall(server, call.host);
      }
      return outcome;
    },

    executeStream(server, tool, args, options = {}) {
      const call = callOf(server, tool, args, options);
      return executor.executeStream(call, () => prepare(call));
    },
  };
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
      'server' | 'tool' | 'outcome' | 'code' | 'latencyMs' | 'principal' | 'route' | 'skill' | 'traceId' | 'kind'
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
    principal: entry.principal,
    route: entry.route,
    skill: entry.skill,
    trace_id: entry.traceId,
  });
}
