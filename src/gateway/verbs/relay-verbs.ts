import { toCallError } from '../../execute/index.js';
import { hideIn, ToolscoutError } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject } from '../../kernel/json.js';
import { auditedMeta } from '../../protocol/request-meta.js';
import { oneLine, printable } from '../../kernel/text.js';
import { readTraceParent } from '../../kernel/trace-context.js';
import type { AuditKind } from '../../model/audit-record.js';
import type { Progress } from '../../model/call.js';
import type { Viewer } from '../../model/viewer.js';
import type { Redaction } from '../../redact/index.js';
import type { ServerFacts } from '../../catalog/catalog.js';
import type { Core } from '../core.js';
import { logCall } from './call-verbs.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import type { CallOptions } from '../contract/options.js';
import { isUsable } from '../../catalog/views.js';
import { isHidden, requireServer, requireVisible } from '../viewer.js';

/** An answer that nests deeper cannot be written as JSON without the risk of overflowing the stack. */
const DEEPEST = 1000;

/**
 * The methods that are passed on to a server, all of them without side effects, and what the audit log says of each.
 * Whatever else a host sends ends here: a method that is not known cannot be judged, redacted or recorded (A46).
 */
const RELAYED: ReadonlyMap<string, { readonly kind: AuditKind; readonly subject?: string }> = new Map([
  ['resources/read', { kind: 'resource-read', subject: 'uri' }],
  ['prompts/get', { kind: 'prompt-get', subject: 'name' }],
  ['completion/complete', { kind: 'completion' }],
]);

/** All that a request sends besides its subject, for the audit log; `undefined` when there is nothing. */
function argumentsOf({ _meta, ...params }: JsonObject, subject: string | undefined): JsonObject | undefined {
  const meta = auditedMeta(_meta);
  const { [subject ?? '']: _named, arguments: args, ...rest } = params;
  const sent = {
    ...rest,
    ...(isObject(args) ? args : args !== undefined && { arguments: args }),
    ...(meta && { _meta: meta }),
  };
  return Object.keys(sent).length > 0 ? sent : undefined;
}

/** What goes out and comes back besides the params and the result. */
function redactOptions(redaction: Redaction, server: string, options: CallOptions): CallOptions {
  const outgoing = redaction.outgoing(server);
  const incoming = redaction.incoming(server);
  const { resumed, onProgress } = options;
  if (!(outgoing && resumed) && !(incoming && onProgress)) return options;
  const tell = (step: Progress): void => {
    const { message } = step;
    onProgress?.(message === undefined || !incoming ? step : { ...step, message: incoming.text(message) });
  };
  return {
    ...options,
    ...(outgoing && resumed && { resumed: outgoing.resumed(resumed) }),
    ...(onProgress && { onProgress: tell }),
  };
}

function unknownMethod(method: string): ToolscoutError {
  const shown = oneLine(printable(method), 100);
  return new ToolscoutError('INVALID_REQUEST', `The method "${shown}" is not passed on to servers.`, {
    suggestion: `Methods that are passed on: ${[...RELAYED.keys()].join(', ')}.`,
    delivered: false,
  });
}

/** The verbs that reach what a server has besides tools. */
export function relayingVerbs(core: Core): VerbTable<'serverFacts' | 'knownFacts' | 'relay'> {
  const { audit, pool, redaction, log } = core.deps;

  const record = (
    viewer: Viewer,
    server: string,
    method: string,
    params: JsonObject,
    options: CallOptions,
    error?: ToolscoutError,
  ): void => {
    const { principal } = viewer;
    const { route = 'library' } = options;
    const recorded = RELAYED.get(method);
    if (!recorded) return;
    const { kind, subject } = recorded;
    const isRefused = isHidden(viewer, server, core.catalog);
    const meta = options.meta ?? params['_meta'];
    const traceId = options.traceId ?? readTraceParent(isObject(meta) ? meta['traceparent'] : undefined)?.traceId;
    const entry = {
      kind,
      principal,
      route,
      server,
      outcome: error ? (isRefused ? 'refused' : 'failure') : 'success',
      ...(error && { code: error.code }),
      ...(traceId !== undefined && { traceId }),
    } as const;
    logCall(log, 'relay', entry);
    audit.record({
      ...entry,
      arguments: argumentsOf(params, subject),
      ...(subject !== undefined && { detail: { [subject]: core.hide(String(params[subject]).slice(0, 2048)) } }),
    });
  };

  return defineVerbs({
    async serverFacts(viewer, id): Promise<ServerFacts> {
      requireServer(viewer, id, core.catalog);
      const server = await core.known(id);
      const list = core.catalog.list(id);
      // A list that an earlier version kept says nothing about this.
      if (list && list.capabilities === undefined && isUsable(server)) await core.learner.learn(server);
      const facts = core.catalog.items(id)?.facts ?? {};
      if (!viewer.skill) return facts;
      // A skill declares tools; resources and prompts are not among them.
      const { info, instructions, era } = facts;
      return { info, instructions, era };
    },

    async knownFacts(viewer) {
      await core.filled();
      const facts = new Map<string, ServerFacts>();
      if (viewer.skill) return facts;
      for (const server of core.catalog.servers.values()) {
        const told = core.catalog.items(server.id)?.facts;
        if (told && isUsable(server) && viewer.sees(server.id)) facts.set(server.id, told);
      }
      return facts;
    },

    async relay(viewer, id, method, params, options = {}) {
      await core.filled();
      if (!RELAYED.has(method)) throw unknownMethod(method);
      try {
        requireVisible(viewer, id, core.catalog);
        core.catalog.items(id)?.check(method, params);
        const sent = redaction.outgoing(id)?.params(params) ?? params;
        const { resumed, onProgress } = redactOptions(redaction, id, options);
        // All of them only read, so they may be sent again whatever became of the first time.
        const request = {
          method,
          params: { ...sent, ...resumed },
          onProgress,
          mayRepeat: () => true,
          waitsForLimit: true,
        };
        const result = await pool.call(core.usable(id), request, {
          principal: viewer.principal,
          host: options.host,
          signal: options.signal,
          timeoutMs: options.timeoutMs,
        });
        if (isDeeperThan(result, DEEPEST)) {
          throw new ToolscoutError('TOOL_EXECUTION_ERROR', `The answer nests deeper than ${DEEPEST} levels.`);
        }
        record(viewer, id, method, params, options);
        return redaction.incoming(id)?.result(result) ?? result;
      } catch (thrown) {
        const incoming = redaction.incoming(id);
        const hide = incoming ? (text: string) => core.hide(incoming.text(text)) : core.hide;
        const error = hideIn(toCallError(thrown, options.signal), hide);
        record(viewer, id, method, params, options, error);
        throw error;
      }
    },
  });
}
