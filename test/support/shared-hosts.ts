import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { isAlive, waitUntil } from './fixture.js';
import { CLI, type Workplace } from './toolscout.js';

/** A host that reaches toolscout through a forwarder. */
export interface SharedHost {
  readonly client: Client;
  /** The process id of the forwarder. */
  readonly pid: number;
  /** What the forwarder wrote to stderr. */
  readonly logged: () => string;
}

/** The arguments with which a host starts a forwarder. */
export function forwarderArgs(place: Workplace, ...more: string[]): string[] {
  return [CLI, 'serve', '--stdio', '--shared', ...place.flags, ...more];
}

/** Connects a host through a forwarder; the service of its workplace is ended after the test. */
export async function sharedHost(
  place: Workplace,
  {
    client = new Client({ name: 'test-host', version: '1' }, {}),
    args = [],
    env,
  }: { readonly client?: Client; readonly args?: string[]; readonly env?: Record<string, string> } = {},
): Promise<SharedHost> {
  endServicesAfter(place);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: forwarderArgs(place, ...args),
    stderr: 'pipe',
    cwd: place.folder,
    env,
  });
  let text = '';
  transport.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, pid: transport.pid!, logged: () => text };
}

/** The processes of the services that a workplace has. */
export function servicesOf(place: Workplace): number[] {
  const folder = join(place.folder, 'state', 'shared');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { pid: number }).pid)
    .filter(isAlive);
}

/** Ends the services of a workplace after the test, before its folder is removed. */
export function endServicesAfter(place: Workplace): void {
  onTestFinished(async () => {
    for (const pid of servicesOf(place)) process.kill(pid, 'SIGKILL');
    await waitUntil(() => servicesOf(place).length === 0, { what: 'the end of the services' });
  });
}

/** Calls a tool of a server through the meta-tools. */
export function run(client: Client, server: string, tool: string, args: object = {}) {
  return client.callTool({ name: 'execute_tool', arguments: { server, tool, arguments: args } });
}
