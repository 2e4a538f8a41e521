import { eventStream, plainText, whole, type Dialect, type Json } from './dialect.js';

/** The generateContent API of Gemini. */
export const gemini: Dialect = {
  name: 'gemini',
  matches: (path) => /:(stream)?generateContent$/i.test(path),

  read(body) {
    const parts: Json[] = (body.contents ?? []).flatMap(({ parts }: Json) => parts ?? []);
    const declarations: Json[] = (body.tools ?? []).flatMap((tool: Json) => tool.functionDeclarations ?? []);
    return {
      prompt: [plainText(body.systemInstruction), ...parts.filter(({ text }) => text).map(plainText)].join('\n'),
      tools: declarations.map((tool) => ({
        name: tool.name,
        description: tool.description ?? '',
        schema: tool.parametersJsonSchema ?? tool.parameters,
        deferred: false,
      })),
      results: parts
        .filter(({ functionResponse }) => functionResponse)
        .map(({ functionResponse: { name, response } }) => ({ tool: name, text: plainText(response) })),
    };
  },

  write(reply, { path, body }) {
    const part =
      reply.kind === 'text'
        ? { text: reply.text }
        : { functionCall: { id: reply.id, name: reply.tool.name, args: reply.args } };
    const answer = {
      candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
      modelVersion: body.model ?? 'stub',
    };
    return /:stream/i.test(path) ? eventStream([{ data: answer }]) : whole(answer);
  },
};
