import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from './client.js';
import { installedBin } from './installed-bin.js';

const SDK = '@modelcontextprotocol/sdk';

/** A file of `drivers/`, copied to where it finds the packages of its client. */
async function copyDriver(installed: string, file: string): Promise<string> {
  const target = join(installed, file);
  await copyFile(fileURLToPath(new URL(`drivers/${file}`, import.meta.url)), target);
  return target;
}

type Options = Pick<Client, 'node' | 'transports'> & { readonly env?: Readonly<Record<string, string>> };

/** A library that a script of `drivers/` uses. */
function library(name: string, driver: string, packages: Client['packages'], options: Options = {}): Client {
  const { env, ...rest } = options;
  return {
    name,
    packages,
    kind: 'library',
    ...rest,
    async launch({ installed, node }) {
      await copyDriver(installed, 'exercise.mjs');
      return { command: node, args: [await copyDriver(installed, `${driver}.mjs`)], env };
    },
  };
}

/** A command line that a script of `drivers/` starts; `variable` tells it where the command is. */
function commandLine(client: Client, name: string, variable: string): Client {
  return {
    ...client,
    async launch(cell) {
      const launch = await client.launch(cell);
      return { ...launch, env: { ...launch.env, [variable]: await installedBin(cell.installed, name) } };
    },
  };
}

function bridge(name: string, version: string, transport: 'stdio' | 'http'): Client {
  const packages = { [name]: version, [SDK]: '1.32.2' };
  const client = library(name, 'bridge', packages, { transports: [transport], env: { BRIDGE: name } });
  return commandLine(client, name, 'BRIDGE_BIN');
}

/** Clients that are libraries or small commands. */
export const LIBRARIES: readonly Client[] = [
  // The first SDK that could do Streamable HTTP was 1.10.
  library('sdk-1.0', 'sdk', { [SDK]: '1.0.4' }, { transports: ['stdio'] }),
  library('sdk-1.10', 'sdk', { [SDK]: '1.10.2' }),
  library('sdk-1.20', 'sdk', { [SDK]: '1.20.2' }),
  library('sdk-1.32', 'sdk', { [SDK]: '1.32.2' }),
  library('sdk-2-legacy', 'client-2', { '@modelcontextprotocol/client': '2.4.0' }, { env: { ERA: 'legacy' } }),
  library('sdk-2-modern', 'client-2', { '@modelcontextprotocol/client': '2.4.0' }, { env: { ERA: 'auto' } }),
  commandLine(
    library('inspector-cli', 'inspector', { '@modelcontextprotocol/inspector': '2.12.0' }, { node: '22' }),
    '@modelcontextprotocol/inspector',
    'INSPECTOR',
  ),
  library('ai-sdk', 'ai-sdk', { '@ai-sdk/mcp': '2.0.96' }, { node: '22' }),
  library('langchain', 'langchain', { '@langchain/mcp-adapters': '1.1.4', '@langchain/core': '1.2.13' }),
  library('mcp-use', 'mcp-use', { 'mcp-use': '1.34.6' }),
  library('mastra', 'mastra', { '@mastra/mcp': '2.0.0' }, { node: '22' }),
  library('openai-agents', 'openai-agents', { '@openai/agents': '0.20.0' }),
  library('google-genai', 'google-genai', { '@google/genai': '2.32.0', [SDK]: '1.32.2' }),
  library('genkit', 'genkit', { '@genkit-ai/mcp': '1.42.0', genkit: '1.42.0' }),
  library('llamaindex', 'llamaindex', { '@llamaindex/tools': '0.1.12' }),
  library('mcp-client', 'mcp-client', { 'mcp-client': '1.13.1' }),
  library('mcporter', 'mcporter', { mcporter: '0.12.3' }, { node: '24' }),
  bridge('mcp-remote', '0.15.1', 'http'),
  bridge('mcp-proxy', '6.7.19', 'stdio'),
  bridge('supergateway', '4.0.0', 'stdio'),
];
