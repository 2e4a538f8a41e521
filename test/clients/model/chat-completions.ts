import { eventStream, plainText, whole, type Dialect, type Json, type Reply } from './dialect.js';

function messageOf(reply: Reply): Json {
  if (reply.kind === 'text') return { role: 'assistant', content: reply.text };
  const call = { name: reply.tool.name, arguments: JSON.stringify(reply.args) };
  return {
    role: 'assistant',
    content: null,
    tool_calls: [{ index: 0, id: reply.id, type: 'function', function: call }],
  };
}

/** The tool a call is meant for: some hosts have one tool that calls deferred ones by their name. */
function calledName({ function: called }: Json): string {
  return called?.name === 'tool_call' ? (JSON.parse(called.arguments).name ?? 'tool_call') : called?.name;
}

/** The Chat Completions API of OpenAI. */
export const chatCompletions: Dialect = {
  name: 'chat completions',
  matches: (path) => path.endsWith('/chat/completions'),

  read(body) {
    const messages: Json[] = body.messages ?? [];
    const calls: Json[] = messages.flatMap(({ tool_calls: calls }) => calls ?? []);
    const names = new Map(calls.map((call) => [call.id, calledName(call)]));
    return {
      prompt: messages
        .filter(({ role }) => role !== 'tool')
        .map(({ content }) => plainText(content))
        .join('\n'),
      tools: (body.tools ?? []).map((tool: Json) => ({
        name: tool.function?.name ?? tool.name ?? tool.type,
        description: tool.function?.description ?? '',
        schema: tool.function?.parameters,
        deferred: false,
      })),
      results: messages
        .filter(({ role }) => role === 'tool')
        .map(({ tool_call_id: id, content }) => ({ tool: names.get(id) ?? '', text: plainText(content) })),
    };
  },

  write(reply, { body }) {
    const message = messageOf(reply);
    const end = reply.kind === 'text' ? 'stop' : 'tool_calls';
    const base = { id: `chatcmpl-${Date.now()}`, created: 1_700_000_000, model: body.model };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if (body.stream !== true) {
      return whole({ ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: end }], usage });
    }
    const chunk = (choice: Json): Json => ({ ...base, object: 'chat.completion.chunk', choices: [choice] });
    return eventStream([
      { data: chunk({ index: 0, delta: message, finish_reason: null }) },
      { data: { ...chunk({ index: 0, delta: {}, finish_reason: end }), usage } },
      { data: '[DONE]' },
    ]);
  },
};
