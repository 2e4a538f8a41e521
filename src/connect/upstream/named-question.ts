import { isObject, type JsonObject } from '../../kernel/json.js';
import { oneLine, printable } from '../../kernel/text.js';

/** Characters of the name that are shown. */
const MAX_NAME = 100;

/** The name of a server in quotes, on one line, with nothing that hides or moves text. */
function quoted(server: string): string {
  return JSON.stringify(oneLine(printable(server), MAX_NAME));
}

/**
 * The params of a question with the name of the server that asks it, as it is configured: a host knows only that toolscout asks, and a
 * person must be able to tell whom they answer (A55). A form or a page has a message for the person. A request for a completion has none;
 * a host that shows it shows its system prompt, which the protocol lets every client change.
 */
export function namedQuestion(server: string, method: string, params: JsonObject): JsonObject {
  if (method === 'elicitation/create' && typeof params['message'] === 'string') {
    return { ...params, message: `Server ${quoted(server)} asks:\n${params['message']}` };
  }
  if (method !== 'sampling/createMessage') return params;
  const origin = `Requested by the MCP server ${quoted(server)}.`;
  const { systemPrompt } = params;
  if (systemPrompt === undefined) return { ...params, systemPrompt: origin };
  return typeof systemPrompt === 'string' ? { ...params, systemPrompt: `${origin}\n\n${systemPrompt}` } : params;
}

/** A result that asks for input, with the name of its server in every question. */
export function namedQuestions(server: string, result: JsonObject): JsonObject {
  const { inputRequests } = result;
  if (!isObject(inputRequests)) return result;
  const named = Object.entries(inputRequests).map(([key, question]) => {
    if (!isObject(question) || !isObject(question['params'])) return [key, question];
    return [key, { ...question, params: namedQuestion(server, String(question['method']), question['params']) }];
  });
  return { ...result, inputRequests: Object.fromEntries(named) as JsonObject };
}
