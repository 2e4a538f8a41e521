import type { Cancel } from '../kernel/async/cancel.js';
import { toToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { isObject, type JsonObject } from '../kernel/json.js';
import type { Remedy } from '../kernel/remedy.js';
import type { Call, CallResult } from '../model/call.js';
import type { Host } from '../model/host.js';
import type { ToolErrorFields } from './script-failure.js';
import type { WorkerRequest } from './worker-messages.js';

/** A call that a script makes, as the gateway is asked for it. */
export interface ScriptCall {
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly host: Host | undefined;
  readonly signal: Cancel;
  readonly resumed?: Call['resumed'];
}

/** Runs a call of a script, with all checks of a call (CODE-4). It answers and does not throw. */
export type CallTool = (call: ScriptCall) => Promise<CallResult>;

/** The answer to a call, in the form for the worker. */
export type Answer = Pick<Extract<WorkerRequest, { type: 'answer' }>, 'kind' | 'text'>;

/** The answer that throws a `ToolError` in the script. */
export function errorAnswer(fields: ToolErrorFields): Answer {
  return { kind: 'error', text: JSON.stringify(fields) };
}

/** The text of a content block; `undefined` for a block of another type. */
function textOf(block: unknown): string | undefined {
  return isObject(block) && block['type'] === 'text' && typeof block['text'] === 'string' ? block['text'] : undefined;
}

/** What a script sees of a result: structured content, else JSON in the one text, else text, else the content as it is (CODE-1). */
function valueAnswer(result: JsonObject): Answer {
  const { structuredContent, content } = result;
  if (structuredContent !== undefined) return { kind: 'json', text: JSON.stringify(structuredContent) };
  const blocks = Array.isArray(content) ? content : [];
  const texts = blocks.map(textOf);
  if (texts.length === 1 && texts[0] !== undefined) return { kind: 'maybe', text: texts[0] };
  if (texts.every((text) => text !== undefined)) return { kind: 'text', text: texts.join('\n') };
  return { kind: 'json', text: JSON.stringify(blocks) };
}

/** A result or a failure as the script gets it. */
export function answerOf(
  { success, result, error }: CallResult,
  raw: boolean,
  address: { readonly server: string; readonly tool: string },
  advise: (remedy: Remedy) => string,
): Answer {
  if (success && result) return raw ? { kind: 'json', text: JSON.stringify(result) } : valueAnswer(result);
  const code: ErrorCode = error?.code ?? 'TOOL_EXECUTION_ERROR';
  return errorAnswer({
    code,
    message: error?.message ?? 'The call failed.',
    server: error?.server ?? address.server,
    tool: error?.tool ?? address.tool,
    suggestion: error ? advise(error.remedy) : '',
  });
}

/** Something that was thrown where an answer was expected. */
export function thrownAnswer(thrown: unknown, address: { readonly server: string; readonly tool: string }): Answer {
  const { code, message, suggestion } = toToolscoutError(thrown);
  return errorAnswer({ code, message, suggestion, ...address });
}

/** The answer to a call that was sent before this process took over the script, and whose outcome is unknown. */
export function unknownOutcome(address: { readonly server: string; readonly tool: string }): Answer {
  return errorAnswer({
    code: 'TOOL_EXECUTION_ERROR',
    message: `The outcome of the call to "${address.server}:${address.tool}" is unknown: toolscout stopped while it ran. It was not sent again.`,
    ...address,
    suggestion: 'Check whether it took effect before you call it again.',
  });
}
