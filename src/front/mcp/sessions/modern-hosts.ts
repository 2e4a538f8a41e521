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
  /** The host behind a request with this `_meta`, for what it is told outside of any request. */
  listener(meta: unknown, sender: Sender): Host;
  close(): void;
}

/** What a request says about its host. */
function hostIn(
  envelope: JsonObject,
  { principal, connection, isGrouped }: Sender,
): Pick<Round, 'hostId' | 'group' | 'capabilities' | 'logLevel'> {
  const declared = envelope[META_KEY.clientCapabilities];
  const capabilities = isObject(declared) ? declared : {};
  const level = envelope[META_KEY.logLevel];
  const logLevel = isLogLevel(level) ? level : undefined;
  const own = canBeAsked(capabilities) ? connection : undefined;
  const alike = sharedHostId(principal, capabilities, logLevel);
  const hostId = own ?? alike;
  return { hostId, ...(isGrouped && { group: alike }), capabilities, ...(logLevel !== undefined && { logLevel }) };
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
  const { states } = deps;

  const roundOf = ({ mcpReq }: ModernContext, sender: Sender): Round => {
    const said = hostIn((mcpReq.envelope ?? {}) as JsonObject, sender);
    const { logLevel } = said;
    const progressToken = mcpReq._meta?.progressToken;
    return {
      ...said,
      principal: sender.principal,
      ...(sender.traceId !== undefined && { traceId: sender.traceId }),
      signal: mcpReq.signal,
      ...(progressToken !== undefined && { progressToken }),
      ...(isObject(mcpReq.inputResponses) && { inputResponses: mcpReq.inputResponses }),
      notify(method, params) {
        // In this era nobody hears what was not asked for.
        if (method === 'notifications/message' && (logLevel === undefined || !isLoud(params, logLevel))) return;
        mcpReq.notify({ method, params } as never).catch(deps.onLost);
      },
    };
  };

  /** Sends briefings while a request is answered whose host wants log messages; there is no other time for them. */
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
      held.begin({ ...round, ...(resumed && { resumed }) }, (exchange) => surface.answer(method, params, exchange));
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
        Promise.reject(protocolError(RPC_CODE.internalError, 'Nobody can be asked now.'));
      return { id, era: 'modern', capabilities, request, notify: () => undefined };
    },
    close: () => held.close(),
  };
}
