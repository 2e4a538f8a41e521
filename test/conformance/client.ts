// The client under test (C3): the side of toolscout that talks to servers, driven through one scenario of the suite.
import { isObject, type JsonObject, type JsonValue } from '../../src/kernel/json.js';
import { createAdapter, type Adapter, type AdapterExtras, type Answerer } from './adapter.js';
import { signInsFor } from './sign-in.js';

/** One scenario of the suite. */
export interface Surroundings {
  readonly scenario: string;
  /** What the suite hands to this scenario: credentials, tool calls. */
  readonly context: JsonObject;
}

type Drive = (adapter: Adapter, around: Surroundings) => Promise<void>;

/** A value that a schema allows, as far as the scenarios need one. */
function sampleOf(schema: JsonValue | undefined): JsonValue {
  const type = isObject(schema) ? schema['type'] : undefined;
  if (type === 'number' || type === 'integer') return 1;
  if (type === 'boolean') return true;
  if (type === 'array') return [];
  if (type === 'null') return null;
  return type === 'object' ? {} : 'sample';
}

/** Arguments that satisfy what an input schema requires. */
function argumentsFor(tool: JsonObject): JsonObject {
  const schema = isObject(tool['inputSchema']) ? tool['inputSchema'] : {};
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  return Object.fromEntries(required.map((name) => [String(name), sampleOf(properties[String(name)])]));
}

/** A person who accepts everything and leaves each field as it was proposed. */
const answer: Answerer = (method, params) => {
  if (method === 'roots/list') return { roots: [] };
  if (method === 'sampling/createMessage') {
    return { role: 'assistant', model: 'none', content: { type: 'text', text: 'sample' } };
  }
  const schema = isObject(params['requestedSchema']) ? params['requestedSchema'] : {};
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const content = Object.entries(properties).map(([name, field]) => {
    const proposed = isObject(field) ? field['default'] : undefined;
    return [name, proposed ?? sampleOf(field)] as const;
  });
  return { action: 'accept', content: Object.fromEntries(content) };
};

/** Lists the tools and runs each of them; what a server without tools answers is fine too. */
const runAllTools: Drive = async (adapter) => {
  for (const tool of await adapter.tools()) await adapter.call(String(tool['name']), argumentsFor(tool));
};

const runNamed =
  (...names: string[]): Drive =>
  async (adapter) => {
    const tools = await adapter.tools();
    for (const name of names) {
      if (!tools.some((tool) => tool['name'] === name)) throw new Error(`There is no tool ${name}.`);
      await adapter.call(name, {});
    }
  };

const SCENARIOS: Readonly<Record<string, Drive>> = {
  'sep-2322-client-request-state': runNamed(
    'test_mrtr_echo_state',
    'test_mrtr_unrelated',
    'test_mrtr_no_state',
    'test_mrtr_no_result_type',
  ),
  async 'http-standard-headers'(adapter) {
    await runAllTools(adapter, { scenario: '', context: {} });
    for (const [list, field, read, key] of [
      ['resources/list', 'resources', 'resources/read', 'uri'],
      ['prompts/list', 'prompts', 'prompts/get', 'name'],
    ] as const) {
      const items = (await adapter.request(list))[field];
      for (const item of Array.isArray(items) ? items : []) {
        if (isObject(item)) await adapter.request(read, { [key]: item[key] });
      }
    }
  },
  async 'http-custom-headers'(adapter, { context }) {
    await adapter.tools();
    for (const call of Array.isArray(context['toolCalls']) ? context['toolCalls'] : []) {
      if (!isObject(call)) continue;
      await adapter.call(String(call['name']), isObject(call['arguments']) ? call['arguments'] : {});
    }
  },
  async 'json-schema-2020-12-preservation'(adapter) {
    const focal = (await adapter.tools()).find((tool) => tool['name'] === 'json_schema_2020_12_tool');
    await adapter.call('json_schema_echo', { schema: focal?.['inputSchema'] });
  },
  async 'json-schema-ref-no-deref'(adapter) {
    await adapter.tools();
  },
};

/** What the adapter is given for a scenario: how to sign in where the server asks for it. */
function extrasFor({ scenario, context }: Surroundings): AdapterExtras {
  return { signIns: signInsFor(scenario, context) };
}

/** Plays the client of a scenario against this address; the log is written as it comes. */
export async function playClient(url: string, around: Surroundings, write: (text: string) => void): Promise<void> {
  const adapter = createAdapter(url, { answer, write, extras: extrasFor(around) });
  try {
    await (SCENARIOS[around.scenario] ?? runAllTools)(adapter, around);
  } finally {
    await adapter.close();
  }
}
