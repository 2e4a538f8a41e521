import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { isAlive, waitUntil } from './fixture.js';
import { hostOver, type HostOptions, type TestHost } from './mcp-host.js';
import { PROGRAM, type Workplace } from './toolscout.js';

/** The arguments with which a host starts a forwarder. */
export function forwarderArgs(place: Workplace, ...more: string[]): string[] {
  return [PROGRAM, 'serve', '--stdio', '--shared', ...place.flags, ...more];
}

/** A host that reaches toolscout through a forwarder. */
export interface SharedHost extends TestHost {
  /** The process id of the forwarder. */
  readonly pid: number;
  /** What the forwarder wrote to stderr. */
  readonly logged: () => string;
  /** Calls a tool of a server through the meta-tools. */
  run(server: string, tool: string, args?: JsonObject, options?: RequestOptions): Promise<JsonObject>;
}

/** Connects a host through a forwarder; the services of its workplace are ended after the test. */
export async function sharedHost(
  place: Workplace,
  options: Partial<Omit<HostOptions, 'over'>> & {
    readonly args?: readonly string[];
    readonly env?: Record<string, string>;
  } = {},
): Promise<SharedHost> {
  endServicesAfter(place);
  const { args = [], env, ...host } = options;
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: forwarderArgs(place, ...args),
    stderr: 'pipe',
    cwd: place.folder,
    ...(env && { env }),
  });
  let text = '';
  transport.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const connected = await hostOver(transport, { era: 'legacy', capabilities: {}, ...host });
  const run: SharedHost['run'] = (server, tool, given = {}, how = { timeout: 90_000 }) =>
    connected.request('tools/call', { name: 'execute_tool', arguments: { server, tool, arguments: given } }, how);
  return { ...connected, pid: transport.pid!, logged: () => text, run };
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
