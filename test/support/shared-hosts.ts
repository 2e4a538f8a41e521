import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { isAlive, waitUntil } from './fixture.js';
import { hostOver, type HostOptions, type TestHost } from './mcp-host.js';
import { PROGRAM, type Workplace } from './toolscout.js';
import { patient } from './patience.js';

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
  const run: SharedHost['run'] = (server, tool, given = {}, how = { timeout: patient(90_000) }) =>
    connected.request('tools/call', { name: 'execute_tool', arguments: { server, tool, arguments: given } }, how);
  return { ...connected, pid: transport.pid!, logged: () => text, run };
}

/** The processes of the services that a workplace has. */
export function servicesOf(place: Workplace): number[] {
  const folder = join(place.folder, 'state', 'shared');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => pidIn(join(folder, name)))
    .filter(isAlive);
}

/** The process that a record names; none when the service has just taken its record away. */
function pidIn(record: string): number[] {
  try {
    return [(JSON.parse(readFileSync(record, 'utf8')) as { pid: number }).pid];
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw thrown;
  }
}

/** Workplaces whose services are ended after the test. */
const ending = new WeakSet<Workplace>();

/**
 * Ends the services of a workplace after the test, before its folder is removed. Call it before the first host connects: what is
 * asked for last is done first, and a host that is still there would start its service again.
 */
export function endServicesAfter(place: Workplace): void {
  if (ending.has(place)) return;
  ending.add(place);
  onTestFinished(async () => {
    const areGone = (): boolean => {
      const left = servicesOf(place);
      for (const pid of left) kill(pid);
      return left.length === 0;
    };
    await waitUntil(areGone, { what: 'the end of the services' });
  });
}

/** Ends a process that may have ended by itself in this moment. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}
