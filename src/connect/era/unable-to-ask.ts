import { ToolscoutError } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';

/** Characters of a message that are looked at. */
const MAX_LOOKED_AT = 2000;

/**
 * How the SDKs say that a server cannot ask its host in an era. In the newer one a request of the server does not exist: the TypeScript SDK,
 * the Python SDK and FastMCP refuse to send it. In the older one a result that asks for input does not exist: the TypeScript SDK and rmcp.
 */
const UNABLE = {
  modern:
    /server-(?:to-client|initiated) requests (?:are|is) (?:not available|unavailable) on |no back-channel for server-initiated requests|server-initiated sampling is not available on |Method '(?:elicitation\/create|sampling\/createMessage|roots\/list)' is not supported by the negotiated protocol version/i,
  legacy: /which has no input_required vocabulary|InputRequiredResult requires negotiated protocol version/i,
} as const;

/** The message of a failed request, or of a result that reports an error; `undefined` for any other result. */
function messageIn(answer: unknown): string | undefined {
  if (answer instanceof ToolscoutError) return answer.upstream?.message;
  if (!isObject(answer) || answer['isError'] !== true || !Array.isArray(answer['content'])) return undefined;
  const [first] = answer['content'] as unknown[];
  return isObject(first) && typeof first['text'] === 'string' ? first['text'] : undefined;
}

/** Whether a request failed because its server cannot ask its host in this era. */
export function isUnableToAsk(answer: unknown, era: 'legacy' | 'modern'): boolean {
  const message = messageIn(answer);
  return message !== undefined && UNABLE[era].test(message.slice(0, MAX_LOOKED_AT));
}

/** The failure of a call whose server needs the other era to ask; it is used from now on. */
export function otherEraNeeded(server: string, answer: JsonObject | ToolscoutError): ToolscoutError {
  const message = `The server "${server}" needs to ask for input during the call, but cannot do so with the protocol revision of its connection. toolscout uses another revision for this server from now on.`;
  return new ToolscoutError('TOOL_EXECUTION_ERROR', message, {
    suggestion: 'Check whether the call changed something, then make it again.',
    ...(answer instanceof ToolscoutError && { cause: answer }),
  });
}
