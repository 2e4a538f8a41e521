import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CLI, lineMatching } from '../support/toolscout.js';
import { CALLS, SERVERS } from './catalogue.js';
import type { CellInput, Client, Launch, Mode, Transport } from './client.js';
import type { Json, OfferedTool } from './model/dialect.js';
import { startModelStub, type ModelStub } from './model/stub.js';
import { endLeftovers, runProcess, type Ended } from './processes.js';

const CELL_TIMEOUT_MS = 120_000;

/** What a client did and saw. */
export interface Observed {
  readonly tools: ReadonlyArray<{ readonly name: string; readonly schema?: unknown; readonly group?: string }>;
  /** Names of the first model request; agents only. */
  readonly first?: readonly string[];
  readonly resources?: readonly string[];
  readonly templates?: readonly string[];
  readonly prompts?: readonly string[];
  readonly answers: readonly string[];
  /** Text that reached the model or the caller besides tools: instructions, system prompt, descriptions. */
  readonly text: string;
  readonly problem?: string;
  readonly ended: Ended;
  readonly leftovers: readonly string[];
}

/** A folder with a config and a store that has learned both servers, for all cells of one client. */
export interface Workplace {
  readonly folder: string;
  readonly flags: readonly string[];
  remove(): Promise<void>;
}

const open = new Set<Workplace>();

/** Ends everything that was started and removes what was written, when the run is interrupted. */
export async function endWorkplaces(): Promise<void> {
  for (const workplace of open) {
    await endLeftovers(workplace.folder, isOurs, 0);
    await workplace.remove();
  }
}

/** Makes the workplace of a client. */
export async function openWorkplace(name: string): Promise<Workplace> {
  const folder = await mkdtemp(join(tmpdir(), `toolscout-cell-${name}-`));
  const config = join(folder, 'toolscout.config.json');
  await writeFile(config, JSON.stringify({ servers: SERVERS }));
  const flags = ['--config', config, '--state-dir', join(folder, 'state')];
  const learned = await runProcess(process.execPath, [CLI, 'discover', ...flags], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder },
    timeoutMs: CELL_TIMEOUT_MS,
  });
  if (learned.timedOut) throw new Error(`toolscout discover did not end: ${learned.stderr}`);
  const workplace: Workplace = {
    folder,
    flags,
    async remove() {
      open.delete(workplace);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
  open.add(workplace);
  return workplace;
}

async function startServe(workplace: Workplace, mode: Mode): Promise<{ url: string; child: ChildProcess }> {
  const args = [CLI, 'serve', '--port', '0', '--mode', mode, ...workplace.flags];
  const child = spawn(process.execPath, args, { cwd: workplace.folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [url] = await lineMatching(child, /http:\/\/127\.0\.0\.1:\d+\/mcp/);
  return { url, child };
}

async function stopServe(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

function readReport({ stdout }: Ended): Json | undefined {
  const line = /^REPORT (.*)$/m.exec(stdout)?.[1];
  return line === undefined ? undefined : JSON.parse(line);
}

function observeLibrary(ended: Ended, leftovers: readonly string[]): Observed {
  const report = readReport(ended);
  if (!report) {
    const problem = `It reported nothing: ${(ended.stderr || ended.stdout).trim().slice(-600)}`;
    return { tools: [], answers: [], text: '', problem, ended, leftovers };
  }
  const tools = (report.tools ?? []).map(({ name, inputSchema }: Json) => ({ name, schema: inputSchema }));
  return { ...report, tools, text: report.instructions ?? '', ended, leftovers };
}

function observeAgent(model: ModelStub, ended: Ended, leftovers: readonly string[]): Observed {
  const { seen } = model;
  const tools: OfferedTool[] = [...seen.tools.values()];
  const text = [seen.prompt, ...seen.groups, ...tools.map(({ description }) => description)].join('\n');
  const silent =
    seen.turns === 0 ? `It never asked the model: ${(ended.stderr || ended.stdout).trim().slice(-600)}` : undefined;
  const problem = seen.problem ?? silent;
  return { tools, first: seen.first, answers: seen.answers, text, problem, ended, leftovers };
}

const isOurs = (command: string): boolean => command.includes(CLI) || command.includes('/test/fixtures/servers/');

/** Runs one client once. */
export async function runCell(
  client: Client,
  place: { readonly workplace: Workplace; readonly installed: string; readonly node: string },
  { transport, mode }: { readonly transport: Transport; readonly mode: Mode },
): Promise<Observed> {
  const { workplace, installed, node } = place;
  const home = join(workplace.folder, `${transport}-${mode}`);
  await mkdir(home, { recursive: true });
  const calls = CALLS[mode].map(({ name, args }) => ({ name, args }));
  const model = await startModelStub(calls);
  const serve = transport === 'http' ? await startServe(workplace, mode) : undefined;
  const input: CellInput = {
    transport,
    mode,
    home,
    installed,
    node,
    command: process.execPath,
    args: [CLI, 'serve', '--stdio', '--mode', mode, ...workplace.flags],
    url: serve?.url ?? '',
    modelUrl: model.url,
  };
  let ended: Ended;
  try {
    const launch: Launch = await client.launch(input);
    const { command, args, url } = input;
    ended = await runProcess(launch.command, launch.args, {
      cwd: home,
      // Nothing of the user's environment, so that no credential and no setting of theirs is used.
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        TERM: 'dumb',
        CELL: JSON.stringify({ transport, mode, command, args, url, calls }),
        ...launch.env,
      },
      timeoutMs: CELL_TIMEOUT_MS,
    });
  } finally {
    if (serve) await stopServe(serve.child);
    await model.close();
  }
  const leftovers = await endLeftovers(workplace.folder, isOurs);
  return client.kind === 'agent' ? observeAgent(model, ended, leftovers) : observeLibrary(ended, leftovers);
}
