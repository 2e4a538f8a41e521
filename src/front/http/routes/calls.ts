import type { Clock } from '../../../kernel/clock.js';
import { messageOf, ToolscoutError } from '../../../kernel/errors.js';
import type { Log } from '../../../kernel/log.js';
import { failureText, type CallResult, type Failure } from '../../../model/call.js';
import type { CallOptions, HostCallOptions } from '../../../gateway/index.js';
import { createEventStream, EVENT_HEADERS, EVENT_STREAM, wantsEvents } from '../event-stream.js';
import { clientNameOf } from '../dispatch/input.js';
import { PROBLEM_TYPE, problemResponse } from '../dispatch/problem.js';
import { route, type Route, type RouteInput } from '../route.js';
import { AskAnswer, AskList, CallAnswer, CallRequest, Events, Problem } from '../openapi/schemas.js';
import type { Asks } from '../asks.js';
import { estimateJsonTokens, estimateReadTokens, estimateTokens } from '../../../kernel/tokens.js';
import { traceMeta } from '../../../kernel/trace-context.js';
import * as z from 'zod';

type Input = RouteInput<undefined, undefined, z.output<typeof CallRequest>>;

function errorOf({ code, message, remedy, severity, retryAfterMs, problems }: Failure): ToolscoutError {
  return new ToolscoutError(code, message, { remedy, severity, retryAfterMs, problems });
}

/** What a failed call says: the failure, and the untouched result of a tool that answered with an error. */
export function failedCall({ error, result }: CallResult, traceId: string): Response {
  if (!error) throw new Error('A call failed without a reason.');
  const { server, tool, error_code, delivered } = error;
  const more = {
    server,
    tool,
    ...(error_code !== undefined && { error_code }),
    ...(delivered !== undefined && { delivered }),
    ...(result && { result }),
  };
  return problemResponse(errorOf(error), { traceId, more });
}

/** Running tools: through the same checks as calls over MCP. */
export function callRoutes({
  clock,
  log,
  asks,
}: {
  readonly clock: Clock;
  readonly log: Log;
  readonly asks: Asks;
}): Route[] {
  const optionsOf = ({ body, traceId, request }: Input, signal: AbortSignal): CallOptions => ({
    route: 'http',
    hostName: clientNameOf(request),
    traceId,
    // The trace goes on at the server; nothing else of the request does (S11).
    meta: traceMeta(request),
    ...(body.timeoutMs === undefined ? {} : { timeoutMs: body.timeoutMs }),
    ...(body.select === undefined ? {} : { select: body.select }),
    ...(body.max_tokens === undefined ? {} : { maxTokens: body.max_tokens }),
    signal,
  });

  const streamCall = (input: Input): Response => {
    const { body, gateway, principal, reply, request } = input;
    // Only who says so is asked: others wait for nothing but progress and the result.
    const host = body.ask ? asks.hostFor(principal, body, (event, data) => stream.send(event, data)) : undefined;
    // Not every app that this is mounted in tells by the request that its client has gone; all of them let go of the stream.
    const gone = new AbortController();
    const options: HostCallOptions = { ...optionsOf(input, gone.signal), ...(host && { host }) };
    const running = gateway.stream(body.server, body.tool, body.arguments, options);
    const events = running[Symbol.asyncIterator]();
    const stream = createEventStream({
      clock,
      signal: request.signal,
      // Who does not listen any more does not want it done either.
      onClose: () => {
        gone.abort();
        void events.return?.();
      },
    });
    const forward = async (): Promise<void> => {
      for (let next = await events.next(); !next.done; next = await events.next()) {
        const { value } = next;
        if (value.type === 'progress') stream.send('progress', value.progress);
        else {
          const { result, error } = value.result;
          const tokens = {
            arguments: estimateJsonTokens(body.arguments),
            // What did not succeed is read as well.
            returned: result ? estimateReadTokens(result) : error ? estimateTokens(failureText(error)) : 0,
          };
          stream.send('result', { trace_id: input.traceId, ...value.result, tokens });
        }
      }
    };
    forward()
      .catch((thrown: unknown) => log.error('http.stream', { trace_id: input.traceId, error: messageOf(thrown) }))
      .finally(() => stream.end());
    return reply(stream.body, { type: EVENT_STREAM, headers: EVENT_HEADERS });
  };

  const problem = (description: string): Route['responses'][string] => ({
    description,
    content: { [PROBLEM_TYPE]: Problem },
  });

  return [
    route({
      id: 'callTool',
      group: 'calls',
      method: 'POST',
      path: '/v1/call',
      summary: 'Runs one tool; with `Accept: text/event-stream` its progress comes first',
      scope: 'call',
      body: CallRequest,
      responses: {
        200: {
          description: 'The answer of the tool, as its server gave it; or events `progress`, `ask` and `result`.',
          content: { 'application/json': CallAnswer, [EVENT_STREAM]: Events },
        },
        404: problem('There is no such server or tool.'),
        422: problem('The arguments do not fit the schema of the tool.'),
        429: problem('The server is asked too often.'),
        '5XX': problem('The server could not be reached, or the tool failed; `result` has what it said.'),
      },
      async handle(input) {
        if (wantsEvents(input.request)) return streamCall(input);
        const { body, gateway, reply, traceId } = input;
        const result = await gateway.call(
          body.server,
          body.tool,
          body.arguments,
          optionsOf(input, input.request.signal),
        );
        return result.success ? reply(result) : failedCall(result, traceId);
      },
    }),
    route({
      id: 'listAsks',
      group: 'calls',
      method: 'GET',
      path: '/v1/asks',
      summary: 'Questions in the middle of calls that wait for this caller',
      scope: 'call',
      responses: {
        200: { description: 'The questions, the oldest first.', content: { 'application/json': AskList } },
      },
      handle: ({ principal, reply }) => reply(AskList.parse({ asks: asks.list(principal) })),
    }),
    route({
      id: 'answerAsk',
      group: 'calls',
      method: 'POST',
      path: '/v1/asks/{id}',
      summary: 'Answers what was asked during a call',
      scope: 'call',
      params: z.object({ id: z.string().min(1).max(100) }),
      body: AskAnswer,
      responses: {
        204: { description: 'The answer was taken.' },
        404: problem('This question is not open for this caller.'),
      },
      handle({ params, body, principal, reply }) {
        asks.answer(params.id, principal, body);
        return reply(null, { status: 204 });
      },
    }),
  ];
}
