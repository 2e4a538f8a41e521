import { Canceller } from '../../../kernel/async/cancel.js';
import { InFlightMap } from '../../../kernel/async/in-flight-map.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import { PlainAnswer, type Answer, type Received } from '../../../net/http-message.js';
import { RPC_CODE } from '../../../protocol/json-rpc.js';
import { isOfConnection, META_KEY } from '../../../protocol/request-meta.js';
import { toRpcError } from '../exchange.js';
import type { HostSurface } from '../menu/host-surface.js';
import { introductionIn } from '../sessions/introduction.js';
import type { ModernContext } from '../sessions/modern-hosts.js';
import { eventOf, HostStream } from './host-stream.js';
import type { Arrival, HeaderCheck, HttpEraDeps } from './http-era.js';
import type { PlainCall } from './plain-call.js';

/** Calls of hosts of the 2026 era of which nothing is odd. */
export interface PlainCalls {
  readonly isBusy: boolean;
  call(received: Received, call: PlainCall, arrival: Arrival): Promise<Answer>;
  /** Cancels every call. */
  close(): void;
}

/** The status of an answer whose host has closed the connection. */
export const CLIENT_GONE = 499;

/** What servers of the 2025 era say of a resource that is not there; this era has no such code. */
const NO_RESOURCE = -32_002;

const JSON_TYPE = 'application/json';
const DONE = Promise.resolve();
const noState = (): undefined => undefined;

/** Takes out the fields that belong to this connection; they are not passed on. */
function withoutEnvelope(meta: JsonObject): JsonObject {
  const kept: Record<string, JsonObject[string]> = {};
  for (const field in meta) if (field === 'progressToken' || !isOfConnection(field)) kept[field] = meta[field];
  return kept;
}

/** A result as every answer of this era is: it says that it is one, and who gives it. */
function stamped(result: JsonObject, info: HostSurface['info']): JsonObject {
  const { resultType = 'complete', _meta: meta } = result;
  if (meta !== undefined && (!isObject(meta) || meta[META_KEY.serverInfo] !== undefined)) {
    return { ...result, resultType };
  }
  return { ...result, resultType, _meta: { ...(meta as JsonObject | undefined), [META_KEY.serverInfo]: info } };
}

/** One call on its way: its answer is given alone, or at the end of a stream of what was told before. */
class Exchange {
  readonly stop = new Canceller();
  private stream: HostStream | undefined;

  constructor(
    private readonly id: PlainCall['id'],
    private readonly begin: (answer: Answer) => void,
    private readonly clock: HttpEraDeps['clock'],
  ) {}

  /** The host has gone or lost its access: the call is cancelled and nothing more is sent. */
  abandon(): void {
    this.stop.abort(new Error('the host has gone'));
    this.stream?.close();
    this.begin(new PlainAnswer(CLIENT_GONE, {}, null));
  }

  tell(notification: object): void {
    if (this.stop.aborted) return;
    const text = JSON.stringify({ jsonrpc: '2.0', ...notification });
    if (!this.stream) {
      this.stream = new HostStream({ clock: this.clock, onLeft: () => this.abandon() });
      this.begin(this.stream.response);
    }
    this.stream.write(eventOf(text), true);
  }

  refuse(refusal: Answer): void {
    this.begin(refusal);
  }

  succeed(result: JsonObject): void {
    let text: string;
    try {
      text = JSON.stringify({ result, jsonrpc: '2.0', id: this.id });
    } catch {
      // It nests too deep for JSON; its request must not stay unanswered.
      return this.fail({ code: RPC_CODE.internalError, message: 'The answer cannot be written as JSON.' });
    }
    this.end(text, 200);
  }

  fail(error: { readonly code: number; readonly message: string }): void {
    // That a host lacks a capability is the one error of a call that is an error of HTTP too.
    const status = error.code === RPC_CODE.missingCapability ? 400 : 200;
    const code = error.code === NO_RESOURCE ? RPC_CODE.invalidParams : error.code;
    this.end(JSON.stringify({ jsonrpc: '2.0', id: this.id, error: { ...error, code } }), status);
  }

  private end(text: string, status: number): void {
    if (this.stop.aborted) return;
    if (!this.stream) return this.begin(new PlainAnswer(status, { 'content-type': JSON_TYPE }, text));
    this.stream.write(eventOf(text), false);
    this.stream.close();
  }
}

/** Answers calls by the surface that their host is offered. */
export function createPlainCalls(deps: HttpEraDeps & { readonly refuseMismatch: HeaderCheck }): PlainCalls {
  const { front, clock, callSurfaceAt, refuseMismatch } = deps;
  const running = new InFlightMap<number, Exchange>();
  let count = 0;

  const answer = async (exchange: Exchange, received: Received, call: PlainCall, arrival: Arrival): Promise<void> => {
    const surface = await callSurfaceAt(arrival.server, introductionIn(call));
    const refusal = surface.definition && (await refuseMismatch(received, call, () => surface));
    if (refusal) return exchange.refuse(refusal);
    const { _meta: envelope } = call.params;
    const meta = withoutEnvelope(envelope);
    const context: ModernContext = {
      mcpReq: {
        envelope,
        _meta: meta as ModernContext['mcpReq']['_meta'],
        signal: exchange.stop,
        requestState: noState,
        notify(notification: object) {
          exchange.tell(notification);
          return DONE;
        },
      },
    };
    const { principal = 'local', traceId } = arrival;
    const request = { method: call.method, params: { ...call.params, _meta: meta } };
    const result = await front.modern.answer(surface, request, context, { principal, traceId });
    exchange.succeed(stamped(result, surface.info));
  };

  return {
    get isBusy() {
      return !running.isEmpty;
    },
    call: (received, call, arrival) =>
      new Promise((begin) => {
        const exchange = new Exchange(call.id, begin, clock);
        const place = ++count;
        running.set(place, exchange);
        received.onGone(() => {
          running.take(place);
          exchange.abandon();
        });
        answer(exchange, received, call, arrival).then(
          () => running.take(place),
          (thrown: unknown) => {
            running.take(place);
            exchange.fail(toRpcError(thrown));
          },
        );
      }),
    close() {
      for (const [place, exchange] of running) {
        running.take(place);
        exchange.abandon();
      }
    },
  };
}
