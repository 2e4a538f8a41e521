import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigInput, ServerEntry } from '../../src/model/config.js';
import type { Requirement } from './suite.js';

/**
 * What the suite is run against: the fixture itself, toolscout with the fixture behind it over each
 * transport, the side of toolscout that talks to servers, and toolscout with a fixture that knows
 * only the older revisions.
 */
export const TARGETS = ['direct', 'http', 'stdio', 'sse', 'client', 'http-legacy', 'stdio-legacy'] as const;
/** See the constant of the same meaning. */
export type Target = (typeof TARGETS)[number];

/** What is run unless other targets are named. */
const USUAL: ReadonlySet<Target> = new Set(['direct', 'http', 'stdio', 'sse', 'client'] as const);

/** Whether a run is among the usual ones: HTTP+SSE is older than the revision of 2026. */
export function isUsual(target: Target, requirement: Requirement): boolean {
  return USUAL.has(target) && (target !== 'sse' || requirement === '2025-11-25');
}

/** Something the suite can be pointed at. */
export interface Endpoint {
  readonly url: string;
  stop(): Promise<void>;
}

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const FIXTURE = path('../fixtures/servers/conformance.mjs');
const CLI = path('../../dist/cli.js');
/** The id of the fixture in the config, and so a part of the address. */
const SERVER = 'suite';
const START_MS = 30_000;

/** Starts a process and resolves with what its output says; fails with everything it printed. */
async function startAndFind(
  args: readonly string[],
  pattern: RegExp,
  cwd?: string,
): Promise<{ readonly child: ChildProcess; readonly found: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], cwd });
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  try {
    const found = await new Promise<string>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${args.join(' ')} ${why}:\n${output}`));
      timer = setTimeout(() => fail(`did not say ${pattern} within ${START_MS} ms`), START_MS);
      for (const stream of [child.stdout, child.stderr]) {
        stream?.setEncoding('utf8').on('data', (chunk: string) => {
          output = (output + chunk).slice(-65_536);
          const match = pattern.exec(output)?.[1];
          if (match !== undefined) resolve(match);
        });
      }
      child.once('error', reject);
      child.once('exit', (code) => fail(`ended with ${code}`));
    });
    return { child, found };
  } catch (thrown) {
    child.kill('SIGKILL');
    throw thrown;
  } finally {
    clearTimeout(timer);
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
  await gone;
  clearTimeout(timer);
}

/** The fixture over a transport that listens. */
async function startFixture(way: 'http' | 'sse', ...flags: string[]): Promise<Endpoint> {
  const { child, found } = await startAndFind([FIXTURE, `--${way}`, '0', ...flags], /^listening (\d+)$/m);
  return {
    url: `http://127.0.0.1:${found}/${way === 'sse' ? 'sse' : 'mcp'}`,
    stop: () => stop(child),
  };
}

async function waitUntilReady(base: string): Promise<void> {
  const deadline = performance.now() + START_MS;
  for (;;) {
    const { known, failed } = (await (await fetch(`${base}/ready`)).json()) as { known: number; failed: number };
    if (known === 1) return;
    if (failed > 0 || performance.now() > deadline)
      throw new Error(`toolscout could not learn the fixture at ${base}.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** toolscout with the fixture as its one server, and the address at which that server passes through unchanged. */
async function startToolscout(entry: Partial<ServerEntry>, folder: string): Promise<Endpoint> {
  if (!existsSync(CLI)) throw new Error('dist/cli.js is missing; npm run build makes it.');
  await mkdir(folder, { recursive: true });
  const file = join(folder, 'toolscout.config.json');
  const config: ConfigInput = {
    servers: { [SERVER]: entry },
    rateLimit: { requestsPerSecond: 100_000, burstSize: 100_000 },
  };
  await writeFile(file, JSON.stringify(config));
  const flags = ['--port', '0', '--config', file, '--state-dir', join(folder, 'state')];
  const { child, found } = await startAndFind([CLI, 'serve', ...flags], /MCP endpoint\s+(http:\/\/\S+)\/mcp/, folder);
  try {
    await waitUntilReady(found);
  } catch (thrown) {
    await stop(child);
    throw thrown;
  }
  return { url: `${found}/servers/${SERVER}/mcp`, stop: () => stop(child) };
}

/** Starts what the suite talks to; everything it writes lies in the folder. */
export async function startTarget(target: Exclude<Target, 'client'>, folder: string): Promise<Endpoint> {
  if (target === 'direct') return startFixture('http');
  const [way, era] = target.split('-') as ['http' | 'stdio' | 'sse', 'legacy' | undefined];
  const flags = era ? [`--${era}`] : [];
  if (way === 'stdio') return startToolscout({ command: process.execPath, args: [FIXTURE, ...flags] }, folder);
  const fixture = await startFixture(way, ...flags);
  try {
    const toolscout = await startToolscout({ type: way, url: fixture.url }, folder);
    return {
      url: toolscout.url,
      async stop() {
        await toolscout.stop();
        await fixture.stop();
      },
    };
  } catch (thrown) {
    await fixture.stop();
    throw thrown;
  }
}
