import type { Cancel } from '../../../kernel/async/cancel.js';
import type { Clock } from '../../../kernel/clock.js';
import type { InternalVerbs } from '../../../gateway/index.js';
import { hashJson } from '../../../kernel/hash.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { canBeAsked, type Host } from '../../../model/host.js';
import { hasKeptState, protocolError } from '../exchange.js';
import { createHeldCalls, type Round, type RoundEnd } from './held-calls.js';
import { sharedHostId } from './host-id.js';
import { isLogLevel, isLoud } from './log-levels.js';
import type { HostSurface } from '../menu/host-surface.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { META_KEY } from '../../../protocol/request-meta.js';

/** Methods whose answer may be a question. */
const ASKING = new Set(['tools/call', 'prompts/get', 'resources/read']);

/** Who sent a request. */
export interface Sender {
  readonly principal: string;
  /** Names the connection where there is one; requests over HTTP stand for themselves. */
  readonly connection?: string;
  /** This process serves other hosts of the same user over connections of their own. */
  readonly isGrouped?: boolean;
  /** The id of this request, where it came over HTTP. */
  readonly traceId?: string;
}

/** What a request brings along, as far as it is read; the context that the SDK's server gives is one. */
export interface ModernContext {
  readonly mcpReq: {
    readonly envelope?: unknown;
    readonly _meta?: { readonly progressToken?: string | number };
    readonly signal: Cancel;
    readonly inputResponses?: unknown;
    requestState(): unknown;
    notify(notification: never): Promise<void>;
  };
}

/** Answers hosts of the modern era: every request stands for itself, and a question is an answer. */
export interface ModernHosts {
  answer(
    surface: HostSurface,
    request: { readonly method: string; readonly params?: unknown },
    context: ModernContext,
    sender: Sender,
  ): Promise<JsonObject>;
  /** The host of a request with this `_meta`, for notifications outside of any request. */
  listener(meta: unknown, sender: Sender): Host;
  close(): void;
}

/** What a request says about its host. */
type Said = Pick<Round, 'hostId' | 'group' | 'capabilities' | 'logLevel'>;

/** Hosts whose ids are kept. */
const MAX_KNOWN = 256;

/** Reads who asks; hosts declare the same again and again, and to hash that costs more than to look it up. */
function createHostReader(): (envelope: JsonObject, sender: Sender) => Said {
  const known = new Map<string, string>();
  const idOf = (principal: string, capabilities: JsonObject, logLevel: string | undefined): string => {
    const key = JSON.stringify([principal, capabilities, logLevel]);
    let id = known.get(key);
    if (id === undefined) {
      id = sharedHostId(principal, capabilities, logLevel);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(key, id);
    }
    return id;
  };
  return (envelope, { principal, connection, isGrouped }) => {
    const declared = envelope[META_KEY.clientCapabilities];
    const capabilities = isObject(declared) ? declared : {};
    const level = envelope[META_KEY.logLevel];
    const logLevel = isLogLevel(level) ? level : undefined;
    const alike = idOf(principal, capabilities, logLevel);
    const own = canBeAsked(capabilities) ? connection : undefined;
    return { hostId: own ?? alike, group: isGrouped ? alike : undefined, capabilities, logLevel };
  };
}

function badState(): Error {
  return protocolError(RPC_CODE.invalidParams, 'Invalid or expired requestState', { reason: 'invalid_request_state' });
}

/** What answering modern hosts needs. */
export interface ModernHostsDeps {
  readonly clock: Clock;
  /** Seals what a host carries from one round to the next. */
  readonly states: Pick<InternalVerbs, 'sealState' | 'openState'>;
  /** Called when a notification could not be delivered; the host has gone or does not listen. */
  readonly onLost: (thrown: unknown) => void;
  /** Briefings for the host of this key, as log messages, until the answer is called. */
  readonly follow?: (key: string, send: (params: JsonObject) => void) => () => void;
}

/** The hosts of one front. A call that waits for an answer is held in this process; what a server itself remembers goes with the host. */
export function createModernHosts(deps: ModernHostsDeps): ModernHosts {
  const held = createHeldCalls(deps.clock);
  const hostIn = createHostReader();
  const { states } = deps;

  // Field by field: every spread of this costs as much as a check of a call.
  const roundOf = ({ mcpReq }: ModernContext, sender: Sender): Round => {
    const { hostId, group, capabilities, logLevel } = hostIn((mcpReq.envelope ?? {}) as JsonObject, sender);
    return {
      hostId,
      group,
      capabilities,
      logLevel,
      principal: sender.principal,
      traceId: sender.traceId,
      signal: mcpReq.signal,
      progressToken: mcpReq._meta?.progressToken,
      inputResponses: isObject(mcpReq.inputResponses) ? mcpReq.inputResponses : undefined,
      resumed: undefined,
      notify(method, params) {
        // In this era a host gets only the notifications that it asked for.
        if (method === 'notifications/message' && (logLevel === undefined || !isLoud(params, logLevel))) return;
        mcpReq.notify({ method, params } as never).catch(deps.onLost);
      },
    };
  };

  /** Sends briefings during a request whose host accepts log messages; there is no other time for them. */
  const brief = (surface: HostSurface, round: Round, { connection }: Sender): (() => void) | undefined => {
    if (surface.skills !== true || round.logLevel === undefined) return undefined;
    const send = (params: JsonObject): void => round.notify('notifications/message', params);
    return deps.follow?.(connection ?? round.hostId, send);
  };

  const answer: ModernHosts['answer'] = (surface, request, context, sender) => {
    const round = roundOf(context, sender);
    const unfollow = brief(surface, round, sender);
    const answered = answerRound(surface, request, context, sender, round);
    return unfollow ? answered.finally(unfollow) : answered;
  };

  const answerRound = async (
    surface: HostSurface,
    { method, params: given }: Parameters<ModernHosts['answer']>[1],
    context: ModernContext,
    sender: Sender,
    round: Round,
  ): Promise<JsonObject> => {
    const params = isObject(given) ? given : {};
    const work = (resumed: Round['resumed']): Promise<RoundEnd> =>
      held.begin(resumed ? { ...round, resumed } : round, (exchange) => surface.answer(method, params, exchange));
    if (!ASKING.has(method)) {
      const end = await work(undefined);
      if ('result' in end) return end.result;
      throw protocolError(RPC_CODE.internalError, `${method} cannot ask back.`);
    }
    // Hashed only when a state goes out or comes in: most calls have none.
    const binding = (): string => {
      const { _meta: _ours, ...subject } = params;
      return hashJson([sender.principal, surface.info, method, subject]);
    };
    const state: unknown = context.mcpReq.requestState();
    const { inputResponses } = round;
    let end: RoundEnd;
    if (state === undefined) end = await work(inputResponses && { inputResponses });
    else if (typeof state === 'string' && surface.takesKeptState?.(method, params) === true) {
      end = await work({ requestState: state, ...(inputResponses && { inputResponses }) });
    } else {
      const payload = await states.openState(state, binding());
      const { call, server } = payload ?? {};
      if (typeof call === 'string') {
        const going = held.resume(call, round);
        if (!going) throw badState();
        end = await going;
      } else if (typeof server === 'string') {
        end = await work({ requestState: server, ...(inputResponses && { inputResponses }) });
      } else throw badState();
    }
    if ('held' in end) {
      const { held: call, inputRequests } = end;
      return { resultType: 'input_required', inputRequests, requestState: await states.sealState({ call }, binding()) };
    }
    const { result } = end;
    if (result['resultType'] !== 'input_required' || typeof result['requestState'] !== 'string') return result;
    if (hasKeptState(result)) return result;
    return { ...result, requestState: await states.sealState({ server: result['requestState'] }, binding()) };
  };

  return {
    answer,
    listener(meta, sender) {
      const { hostId: id, capabilities } = hostIn(isObject(meta) ? meta : {}, sender);
      const request = (): Promise<never> =>
        Promise.reject(protocolError(RPC_CODE.internalError, 'This request cannot ask its host.'));
      return { id, era: 'modern', capabilities, request, notify: () => undefined };
    },
    close: () => held.close(),
  };
}
