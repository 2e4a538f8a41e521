// The server behind every subject: an echo, one tool for each feature that a gateway has to carry, and further tools to choose from (--tools=N).
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema, ResultSchema } from '@modelcontextprotocol/sdk/types.js';

const more = Number(process.argv.find((word) => word.startsWith('--tools='))?.slice('--tools='.length) ?? 0);
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const text = (value) => ({ content: [{ type: 'text', text: value }] });
const string = (description) => ({ type: 'string', description });
const object = (properties = {}, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const any = ResultSchema.loose();
let cancelled = 0;

const features = {
  echo: ['Echoes the message.', object({ message: string('The text to give back.') }), ({ message }) => text(message)],
  progress: [
    'Reports progress three times.',
    object(),
    async (_, { _meta, sendNotification }) => {
      for (let progress = 1; progress <= 3; progress++) {
        if (_meta?.progressToken !== undefined) {
          const params = { progressToken: _meta.progressToken, progress, total: 3 };
          await sendNotification({ method: 'notifications/progress', params });
        }
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      return text('done');
    },
  ],
  hang: [
    'Works until it is cancelled.',
    object(),
    (_, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          cancelled++;
          resolve(text('cancelled'));
        });
      }),
  ],
  cancelled: ['Says how many calls were cancelled.', object(), () => text(String(cancelled))],
  sample: [
    'Asks the model of the host.',
    object(),
    async (_, { sendRequest }) => {
      const messages = [{ role: 'user', content: { type: 'text', text: 'hi' } }];
      const answer = await sendRequest({ method: 'sampling/createMessage', params: { messages, maxTokens: 5 } }, any);
      return text(answer.content.text);
    },
  ],
  elicit: [
    'Asks the user for a name.',
    object(),
    async (_, { sendRequest }) => {
      const requestedSchema = object({ name: { type: 'string' } });
      const params = { message: 'Who?', requestedSchema };
      const answer = await sendRequest({ method: 'elicitation/create', params }, any);
      return text(String(answer.content?.name));
    },
  ],
  roots: [
    'Asks for the roots of the host.',
    object(),
    async (_, { sendRequest }) => text((await sendRequest({ method: 'roots/list' }, any)).roots[0].uri),
  ],
  structured: [
    'Gives structured content.',
    object(),
    () => ({ ...text('{"n":7}'), structuredContent: { n: 7 } }),
    object({ n: { type: 'number' } }),
  ],
  image: ['Gives a picture.', object(), () => ({ content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] })],
};

const VERBS = ['create', 'list', 'update', 'delete', 'search', 'export', 'archive', 'assign', 'approve', 'summarize'];
const NOUNS = [
  'invoice',
  'issue',
  'calendar event',
  'customer',
  'document',
  'branch',
  'message',
  'deployment',
  'order',
  'ticket',
];
const fillers = Array.from({ length: more }, (_, n) => {
  const verb = VERBS[n % VERBS.length];
  const noun = NOUNS[Math.floor(n / VERBS.length) % NOUNS.length];
  const round = Math.floor(n / (VERBS.length * NOUNS.length));
  return {
    name: `${verb}_${noun.replace(' ', '_')}${round === 0 ? '' : `_v${round + 1}`}`,
    description: `Use this to ${verb} a ${noun}. The ${noun} is found by its id; other fields narrow down what is meant.`,
    inputSchema: object(
      {
        id: string(`The id of the ${noun}.`),
        filter: string(`Only a ${noun} that matches this expression.`),
        limit: { type: 'integer', description: 'How many at most.' },
      },
      ['id'],
    ),
  };
});
const tools = [
  ...Object.entries(features).map(([name, [description, inputSchema, , outputSchema]]) => ({
    name,
    description,
    inputSchema,
    ...(outputSchema && { outputSchema }),
  })),
  ...fillers,
];

const server = new Server({ name: 'bench', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, ({ params }, extra) =>
  features[params.name] ? features[params.name][2](params.arguments ?? {}, extra) : text(params.name),
);
await server.connect(new StdioServerTransport());
