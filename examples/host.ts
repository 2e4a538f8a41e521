// A host: starts toolscout over stdio and walks the way an agent does. Run: npx tsx examples/host.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

// Outside this repository: command 'npx', args ['toolscout', 'serve', '--stdio'].
const bin = fileURLToPath(new URL('../src/bin.ts', import.meta.url));
const state = mkdtempSync(join(tmpdir(), 'toolscout-example-'));
const transport = new StdioClientTransport({
  command: process.execPath,
  args: ['--import', 'tsx', bin, 'serve', '--stdio', '--demo', '--state-dir', state],
  cwd: fileURLToPath(new URL('..', import.meta.url)),
});
const host = new Client({ name: 'example-host', version: '1.0.0' });

async function call(name: string, args: Record<string, unknown>): Promise<string> {
  const { content, isError } = await host.callTool({ name, arguments: args });
  const [first] = content;
  return `${isError ? 'error ' : ''}${first?.type === 'text' ? first.text : JSON.stringify(first)}`;
}

try {
  await host.connect(transport);
  console.log(`told     ${host.getInstructions()}`);
  console.log(`menu     ${(await host.listTools()).tools.map((tool) => tool.name).join(', ')}`);
  // A server that was never seen before is learned first. A search waits two seconds for that, list_tools as long as it takes.
  await call('list_tools', { server: 'everything' });
  console.log(`search   ${await call('search_tools', { query: 'add two numbers', limit: 1, includeSchema: true })}`);
  console.log(`details  ${await call('get_tool_details', { server: 'everything', tool: 'get-sum' })}`);
  const sum = { server: 'everything', tool: 'get-sum' };
  console.log(`execute  ${await call('execute_tool', { ...sum, arguments: { a: 2, b: 3 } })}`);
  console.log(`refused  ${await call('execute_tool', { ...sum, arguments: { a: 2 } })}`);
} finally {
  await host.close();
  rmSync(state, { recursive: true, force: true });
}
