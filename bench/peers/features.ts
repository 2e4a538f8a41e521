import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Address } from './subjects.js';

/** What a gateway has to carry between a host and a server, each with how it is seen. */
const FEATURES: Readonly<Record<string, (client: Client, call: Address) => Promise<boolean>>> = {
  async progress(client, call) {
    let reports = 0;
    await ask(client, call, 'progress', { onprogress: () => reports++ });
    return reports > 0;
  },
  async cancel(client, call) {
    const stop = new AbortController();
    const hanging = ask(client, call, 'hang', { signal: stop.signal }).catch(() => undefined);
    await pause(500);
    stop.abort();
    await hanging;
    await pause(500);
    return (await ask(client, call, 'cancelled')).includes('1');
  },
  sampling: async (client, call) => (await ask(client, call, 'sample')).includes('SAMPLED'),
  elicitation: async (client, call) => (await ask(client, call, 'elicit')).includes('Ann'),
  roots: async (client, call) => (await ask(client, call, 'roots')).includes('file:///home/ann'),
  async structured(client, call) {
    const { structuredContent } = await client.callTool(call('structured', {}), undefined, { timeout: TIMEOUT_MS });
    return JSON.stringify(structuredContent ?? null) === '{"n":7}';
  },
  images: async (client, call) => (await ask(client, call, 'image')).includes('"type":"image"'),
};

const TIMEOUT_MS = 10_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function ask(client: Client, call: Address, tool: string, options: object = {}): Promise<string> {
  const answer = await client.callTool(call(tool, {}), undefined, { timeout: TIMEOUT_MS, ...options });
  return answer.isError ? '' : JSON.stringify(answer.content);
}

/** The names of all features. */
export const FEATURE_NAMES: readonly string[] = Object.keys(FEATURES);

/** The features that work through a subject. */
export async function featuresOf(client: Client, call: Address): Promise<string[]> {
  const carried: string[] = [];
  for (const [name, works] of Object.entries(FEATURES)) {
    const isCarried = await works(client, call).catch(() => false);
    if (isCarried) carried.push(name);
  }
  return carried;
}
