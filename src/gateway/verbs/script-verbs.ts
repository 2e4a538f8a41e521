import { OWN_SERVER, shapeOfJson } from '../../answers/index.js';
import { readOnlyProblem } from '../../catalog/read-only.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { sha256 } from '../../kernel/hash.js';
import { newIdAt } from '../../kernel/ids.js';
import { isObject } from '../../kernel/json.js';
import { estimateBytes } from '../../kernel/size.js';
import { readTraceParent } from '../../kernel/trace-context.js';
import type { CallResult } from '../../model/call.js';
import type { ScriptResult } from '../../model/script.js';
import type { Viewer } from '../../model/viewer.js';
import type { ScriptRequest, Scripts } from '../../scripts/index.js';
import type { Admission } from '../admission.js';
import type { Core } from '../core.js';
import type { HostScriptOptions } from '../contract/options.js';
import { defineVerbs, type VerbTable, type Verbs } from './define-verbs.js';

/** What the shape of an answer may cost in the message of an error. */
const SHAPE_TOKENS = 150;

/** The verb that runs scripts, and the sandbox behind it. */
export interface Scripting {
  readonly verbs: VerbTable<'run'>;
  /** Stops the scripts that run; none can be started any more. */
  close(): Promise<void>;
}

/** Scripts of this gateway; the sandbox is loaded with the first one. Every call of a script goes through `call`, like any other (CODE-4). */
export function createScripting(core: Core, call: Verbs['call'], admission: Admission): Scripting {
  const { clock, store, audit } = core.deps;
  let loading: Promise<Scripts> | undefined;
  let isClosed = false;
  const load = (): Promise<Scripts> =>
    (loading ??= import('../../scripts/index.js').then(({ createScripts }) =>
      createScripts({ store, clock, shapeOf: (value) => shapeOfJson(value, SHAPE_TOKENS) }),
    ));

  const requestOf = (viewer: Viewer, options: HostScriptOptions): Omit<ScriptRequest, 'record'> => {
    const { memoryBytes, computeMs, timeoutMs, calls, parallel, allow } = core.loaded.config.scripts;
    const { host, hostName, signal, onProgress, advise, aroundCall, route, traceId, meta } = options;
    return {
      owner: { principal: viewer.principal, ...(viewer.skill && { skill: viewer.skill.id }) },
      bounds: {
        memoryBytes,
        computeMs,
        calls,
        parallel,
        timeoutMs: Math.min(timeoutMs, options.timeoutMs ?? timeoutMs),
      },
      mayChange: (address) => {
        const colon = address.indexOf(':');
        const named = meant(core, viewer, address.slice(0, colon), address.slice(colon + 1));
        const isOwn = named.server === OWN_SERVER;
        const tool = isOwn ? core.own.find(named.tool) : core.catalog.index.tool(named.server, named.tool);
        return !tool || readOnlyProblem(tool) !== undefined;
      },
      callTool: (parent) => (made) => {
        const { server, tool } = meant(core, viewer, made.server, made.tool);
        const run = (trace: Pick<HostScriptOptions, 'meta' | 'traceId'>): Promise<CallResult> =>
          call(viewer, server, tool, made.arguments, {
            route,
            hostName,
            ...trace,
            parent,
            host: made.host,
            signal: made.signal,
            resumed: made.resumed,
            readOnly: allow === 'read-only' || options.readOnly,
          });
        return aroundCall ? aroundCall(made, { traceId, meta }, run) : run({ traceId, meta });
      },
      ...(host && { host }),
      ...(signal && { signal }),
      ...(onProgress && { onProgress }),
      ...(advise && { advise }),
    };
  };

  const checkOffered = ({ route = 'library' }: HostScriptOptions): void => {
    const { scripts, mode } = core.loaded.config;
    if (isClosed) throw new ToolscoutError('SHUTTING_DOWN', 'toolscout is stopping; no script is started.');
    // The owner of this machine may run scripts; others may where the configuration allows it.
    if (scripts.enabled || mode === 'code' || route === 'library' || route === 'cli') return;
    if (route === 'mcp') return;
    throw new ToolscoutError('FORBIDDEN', 'Scripts are not enabled.', {
      remedy: { kind: 'configure', what: 'Set "scripts": true in the config.' },
    });
  };

  const runNow = async (viewer: Viewer, script: string, options: HostScriptOptions): Promise<ScriptResult> => {
    const scripts = await load();
    const started = clock.monotonic();
    const request = requestOf(viewer, options);
    const { requestState, inputResponses } = options.resumed ?? {};
    const outcome =
      requestState === undefined
        ? await scripts.run(script, { ...request, record: newIdAt(clock.now()) })
        : await scripts.resume(requestState, script, isObject(inputResponses) ? inputResponses : {}, request);
    const { result, record, seed, startedAt, elapsedMs } = outcome;
    const about = {
      kind: 'script',
      principal: viewer.principal,
      route: options.route ?? 'library',
      host: options.hostName,
      skill: viewer.skill?.id,
      arguments: { script },
    } as const;
    if (result.suspended) {
      // The record of the script itself is written when it ends; of one that never goes on there is this.
      const detail = { suspended: true, hash: sha256(script), calls: result.calls };
      audit.record({ ...about, outcome: 'success', parent: record, detail });
      return result;
    }
    const latencyMs = requestState === undefined ? clock.monotonic() - started : clock.now() - startedAt;
    audit.record({
      ...about,
      id: record,
      outcome: result.success ? 'success' : 'failure',
      code: result.error?.code,
      message: result.error?.message,
      latencyMs,
      askedMs: elapsedMs === undefined ? undefined : Math.max(0, latencyMs - elapsedMs),
      resultBytes: estimateBytes(result.value),
      traceId: options.traceId ?? (options.meta && readTraceParent(options.meta['traceparent'])?.traceId),
      detail: { hash: sha256(script), calls: result.calls, startedAt, seed: [...seed] },
    });
    return hidden(result, core.hide);
  };

  return {
    verbs: defineVerbs({
      async run(viewer, script, options = {}) {
        checkOffered(options);
        const { principal } = viewer;
        // A script is admitted as a whole; its own calls belong to it.
        const entered = admission.enter({ principal, signal: options.signal, resumed: options.resumed });
        try {
          if (entered) await entered;
          return await runNow(viewer, script, options);
        } finally {
          admission.leave(principal);
        }
      },
    }),
    async close() {
      isClosed = true;
      await (await loading)?.close();
    },
  };
}

/** A name as a property of JavaScript can be written with a dot. */
function dotted(name: string): string {
  return name.replaceAll(/[^\w$]/g, '_');
}

/**
 * The tool that a script means: names are often written with a dot where theirs needs brackets, as `tools.everything.get_sum` for `get-sum`.
 * What is called so exactly comes first, and what could be several is nothing.
 */
function meant(
  { catalog, loaded }: Core,
  viewer: Viewer,
  server: string,
  tool: string,
): { server: string; tool: string } {
  const isSeen = (id: string): boolean => catalog.index.tools(id).some(({ name }) => viewer.sees(id, name));
  const servers = loaded.servers.filter(({ id }) => dotted(id) === server && isSeen(id));
  const isServer = servers.length !== 1 || loaded.servers.some(({ id }) => id === server);
  const id = isServer ? server : servers[0]!.id;
  if (catalog.index.tool(id, tool)) return { server: id, tool };
  const names = catalog.index.tools(id).filter(({ name }) => dotted(name) === tool && viewer.sees(id, name));
  return { server: id, tool: names.length === 1 ? names[0]!.name : tool };
}

/** Secrets that a message may hold are hidden, as in the failure of a call. */
function hidden(result: ScriptResult, hide: (text: string) => string): ScriptResult {
  const { error } = result;
  if (!error) return result;
  return { ...result, error: { ...error, message: hide(error.message) } };
}
