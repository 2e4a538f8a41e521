import { isRefusal, toCallError } from '../../execute/index.js';
import { hideIn, ToolscoutError } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonObject } from '../../kernel/json.js';
import { auditedMeta } from '../../protocol/request-meta.js';
import { estimateBytes } from '../../kernel/size.js';
import { oneLine, printable } from '../../kernel/text.js';
import { countLater, sampleResultTokens, sampleTokens } from '../../kernel/token-sample.js';
import { estimateTokens } from '../../kernel/tokens.js';
import { readTraceParent } from '../../kernel/trace-context.js';
import type { AuditKind } from '../../model/audit-record.js';
import type { Progress } from '../../model/call.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import type { Viewer } from '../../model/viewer.js';
import type { Redaction } from '../../redact/index.js';
import type { Admission } from '../admission.js';
import type { Core } from '../core.js';
import type { Traffic } from '../traffic.js';
import { logCall } from './call-verbs.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';
import type { HostCallOptions } from '../contract/options.js';
import { requireVisible } from '../viewer.js';

/** An answer that nests deeper cannot be written as JSON without the risk of overflowing the stack. */
const MAX_DEPTH = 1000;

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
function redactOptions(redaction: Redaction, server: string, options: HostCallOptions): HostCallOptions {
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

function withoutMeta({ _meta, ...rest }: JsonObject): JsonObject {
  return rest;
}

function unknownMethod(method: string): ToolscoutError {
  const shown = oneLine(printable(method), 100);
  return new ToolscoutError('INVALID_REQUEST', `The method "${shown}" is not passed on to servers.`, {
    suggestion: `Methods that are passed on: ${[...RELAYED.keys()].join(', ')}.`,
    delivered: false,
  });
}

/** The verbs of the facet `hosts` but the one that watches resources. */
export function hostVerbs(
  core: Core,
  traffic: Traffic,
  admission: Admission,
): VerbTable<
  'hosts.relay' | 'hosts.tell' | 'hosts.setLogLevel' | 'hosts.release' | 'hosts.noteMenu' | 'hosts.noteAnswer'
> {
  const { audit, pool, redaction, log } = core.deps;

  const record = (
    viewer: Viewer,
    server: string,
    method: string,
    params: JsonObject,
    options: HostCallOptions,
    {
      failed,
      result,
    }: {
      readonly failed?: { readonly error: ToolscoutError; readonly isRefused: boolean };
      readonly result?: JsonObject;
    },
  ): void => {
    const { principal } = viewer;
    const { route = 'library' } = options;
    const recorded = RELAYED.get(method);
    if (!recorded) return;
    const { kind, subject } = recorded;
    const meta = options.meta ?? params['_meta'];
    const traceId = options.traceId ?? readTraceParent(isObject(meta) ? meta['traceparent'] : undefined)?.traceId;
    const entry = {
      kind,
      principal,
      route,
      host: options.hostName,
      server,
      outcome: failed ? (failed.isRefused ? 'refused' : 'failure') : 'success',
      ...(failed && { code: failed.error.code }),
      ...(traceId !== undefined && { traceId }),
    } as const;
    logCall(log, 'relay', entry);
    if (traffic.isOn) traffic.note({ host: options.host }, entry);
    audit.record({
      ...entry,
      ...(failed && { message: failed.error.message }),
      arguments: argumentsOf(params, subject),
      ...countLater(result ? estimateBytes(result) : 0, () => ({
        arguments: sampleTokens(withoutMeta(params)),
        returned: result ? sampleTokens(withoutMeta(result)) : estimateTokens(failed?.error.message ?? ''),
        withheld: 0,
      })),
      ...(subject !== undefined && { detail: { [subject]: core.hide(String(params[subject]).slice(0, 2048)) } }),
    });
  };

  return defineVerbs({
    async 'hosts.relay'(viewer, id, method, params, options = {}) {
      await core.filled();
      if (!RELAYED.has(method)) throw unknownMethod(method);
      let isJudged = true;
      const { principal } = viewer;
      const entered = admission.enter({ principal, server: id, signal: options.signal, resumed: options.resumed });
      try {
        if (entered) await entered;
        const recheck = (): Server => {
          isJudged = true;
          requireVisible(viewer, id, core.catalog);
          core.catalog.items(id)?.check(method, params);
          return core.usable(id);
        };
        const server = recheck();
        const sent = redaction.outgoing(id)?.params(params) ?? params;
        const { resumed, onProgress } = redactOptions(redaction, id, options);
        // All of them only read, so they may be sent again whatever became of the first time.
        const request = {
          method,
          params: { ...sent, ...resumed },
          onProgress,
          mayRepeat: () => true,
          recheck,
          prepareOn: (upstream: Upstream) => core.checkConnection(server, upstream, options.host),
          onAttempt() {
            isJudged = false;
          },
          onConnected() {
            isJudged = false;
          },
        };
        const requester = {
          principal,
          host: options.host,
          signal: options.signal,
          timeoutMs: options.timeoutMs,
        };
        const result = await (traffic.isOn
          ? traffic.send(server, request, requester, pool.call)
          : pool.call(server, request, requester));
        if (isDeeperThan(result, MAX_DEPTH)) {
          const message = `The answer of "${id}" to ${method} nests deeper than ${MAX_DEPTH} levels and was not returned.`;
          throw new ToolscoutError('TOOL_EXECUTION_ERROR', message, {
            suggestion: 'Request a less deeply nested part of the data.',
          });
        }
        const shown = redaction.incoming(id)?.result(result) ?? result;
        record(viewer, id, method, params, options, { result: shown });
        return shown;
      } catch (thrown) {
        const incoming = redaction.incoming(id);
        const hide = incoming ? (text: string) => core.hide(incoming.text(text)) : core.hide;
        const error = hideIn(toCallError(thrown, options.signal), hide);
        record(viewer, id, method, params, options, { failed: { error, isRefused: isRefusal(error.code, isJudged) } });
        throw error;
      } finally {
        admission.leave(principal);
      }
    },

    'hosts.tell'(_viewer, host, method, params) {
      for (const upstream of pool.connectionsOf(host)) if (upstream.era === 'legacy') upstream.tell(method, params);
    },
    'hosts.setLogLevel': (_viewer, host) => pool.setLogLevel(host),
    'hosts.release': (_viewer, host) => pool.release(host),

    'hosts.noteMenu'({ principal, skill }, tools, { traceId, server, hostName } = {}) {
      audit.record({
        kind: 'menu',
        principal,
        route: 'mcp',
        outcome: 'success',
        ...(hostName && { host: hostName }),
        ...(skill && { skill: skill.id }),
        ...(server !== undefined && { server }),
        ...(traceId !== undefined && { traceId }),
        detail: { tools: tools.length },
        // Definitions are kept anyway, so nothing more is held until they are counted.
        countTokens: () => ({ arguments: 0, returned: sampleTokens([...tools]), withheld: 0 }),
      });
    },

    'hosts.noteAnswer'({ principal, skill }, tool, args, answer, { traceId, hostName } = {}) {
      audit.record({
        kind: 'answer',
        principal,
        route: 'mcp',
        outcome: answer['isError'] === true ? 'failure' : 'success',
        ...(hostName && { host: hostName }),
        ...(skill && { skill: skill.id }),
        ...(traceId !== undefined && { traceId }),
        detail: { tool },
        ...countLater(estimateBytes(answer), () => {
          const returned = sampleResultTokens(answer);
          return { arguments: sampleTokens(args), returned, withheld: Math.max(0, wholeOf(answer) - returned) };
        }),
      });
    },
  });
}

/** What an answer would have cost whole, where a part of it was kept back. */
function wholeOf({ _meta }: JsonObject): number {
  const kept = isObject(_meta) ? _meta['toolscout/result'] : undefined;
  return isObject(kept) && typeof kept['tokens'] === 'number' ? kept['tokens'] : 0;
}
