import { eventStream, plainText, whole, type Dialect, type Json, type OfferedTool, type Reply } from './dialect.js';

function itemOf(reply: Reply): Json {
  if (reply.kind === 'text') {
    const content = [{ type: 'output_text', text: reply.text, annotations: [] }];
    return { type: 'message', id: `msg_${Date.now()}`, role: 'assistant', status: 'completed', content };
  }
  const common = { id: `fc_${reply.id}`, call_id: reply.id, status: 'completed' };
  if (reply.tool.name === 'tool_search')
    return { type: 'tool_search_call', execution: 'client', ...common, arguments: reply.args };
  const group = reply.tool.group === undefined ? {} : { namespace: reply.tool.group };
  return { type: 'function_call', ...common, name: reply.tool.name, arguments: JSON.stringify(reply.args), ...group };
}

function toolsOf(tools: readonly Json[], group?: string): OfferedTool[] {
  return tools.flatMap((tool) =>
    tool.type === 'namespace'
      ? toolsOf(tool.tools ?? [], tool.name)
      : {
          name: tool.name ?? tool.type,
          description: tool.description ?? '',
          schema: tool.parameters,
          deferred: tool.defer_loading === true,
          ...(group !== undefined && { group }),
        },
  );
}

const plainDescription = ({ description }: Json): string => String(description ?? '');

/** The Responses API of OpenAI. */
export const responses: Dialect = {
  name: 'responses',
  matches: (path) => path.endsWith('/responses'),

  read(body) {
    const input: Json[] = Array.isArray(body.input) ? body.input : [];
    const names = new Map(
      input
        .filter(({ type }) => type?.endsWith('_call'))
        .map((item) => [item.call_id, item.name ?? item.type.replace(/_call$/, '')]),
    );
    const found = input
      .filter(({ type }) => type === 'tool_search_output')
      .flatMap(({ tools }) => toolsOf(tools ?? []));
    return {
      prompt: [plainText(body.instructions), ...input.filter(({ role }) => role).map(plainText)].join('\n'),
      tools: [...toolsOf(body.tools ?? []), ...found.map((tool) => ({ ...tool, deferred: true }))],
      groups: (body.tools ?? []).filter(({ type }: Json) => type === 'namespace').map(plainDescription),
      results: input
        .filter(({ type }) => type?.endsWith('_output'))
        .map((item) => ({
          tool: names.get(item.call_id) ?? '',
          text: plainText(item.output ?? item.tools),
        })),
    };
  },

  write(reply, { body }) {
    const item = itemOf(reply);
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    const base = { id: `resp_${Date.now()}`, object: 'response', created_at: 1_700_000_000, model: body.model, usage };
    const done = { ...base, status: 'completed', output: [item] };
    if (body.stream !== true) return whole(done);
    const events: Json[] = [
      { type: 'response.created', response: { ...base, status: 'in_progress', output: [] } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: done },
    ];
    return eventStream(events.map((data, index) => ({ name: data.type, data: { ...data, sequence_number: index } })));
  },
};
