import { eventStream, plainText, whole, type Dialect, type Json, type Reply } from './dialect.js';

const usage = { input_tokens: 1, output_tokens: 1 };

function contentOf(reply: Reply): Json {
  return reply.kind === 'text'
    ? { type: 'text', text: reply.text }
    : { type: 'tool_use', id: reply.id, name: reply.tool.name, input: reply.args };
}

/** The Messages API of Anthropic. */
export const anthropic: Dialect = {
  name: 'anthropic messages',
  matches: (path) => path.endsWith('/messages'),

  read(body) {
    const blocks: Json[] = (body.messages ?? []).flatMap(({ content }: Json) =>
      Array.isArray(content) ? content : [],
    );
    const names = new Map(blocks.filter(({ type }) => type === 'tool_use').map(({ id, name }) => [id, name]));
    const text = (body.messages ?? []).map(({ content }: Json) =>
      Array.isArray(content) ? plainText(content.filter(({ type }) => type === 'text')) : plainText(content),
    );
    return {
      prompt: [plainText(body.system), ...text].join('\n'),
      tools: (body.tools ?? []).map((tool: Json) => ({
        name: tool.name,
        description: tool.description ?? '',
        schema: tool.input_schema,
        deferred: tool.defer_loading === true,
      })),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map(({ tool_use_id: id, content }) => ({ tool: names.get(id) ?? '', text: plainText(content) })),
    };
  },

  write(reply, { body }) {
    const content = contentOf(reply);
    const end = reply.kind === 'text' ? 'end_turn' : 'tool_use';
    const message = { id: `msg_${Date.now()}`, type: 'message', role: 'assistant', model: body.model, usage };
    if (body.stream !== true) return whole({ ...message, content: [content], stop_reason: end, stop_sequence: null });
    const opening = reply.kind === 'text' ? { type: 'text', text: '' } : { ...content, input: {} };
    const delta =
      reply.kind === 'text'
        ? { type: 'text_delta', text: reply.text }
        : { type: 'input_json_delta', partial_json: JSON.stringify(reply.args) };
    const events: Json[] = [
      { type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: opening },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: end, stop_sequence: null }, usage },
      { type: 'message_stop' },
    ];
    return eventStream(events.map((data) => ({ name: data.type, data })));
  },
};
