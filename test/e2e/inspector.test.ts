import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { findNode22, findScript } from '../conformance/suite.js';
import { fixture } from '../support/fixture.js';
import { CLI, finish, lineMatching, workplace, type Finished, type Workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

/** Starts the Inspector, toolscout and a server. */
const PATIENCE_MS = patient(120_000);
const META_TOOLS = ['search_tools', 'get_tool_details', 'execute_tool', 'list_mcp_servers', 'list_tools'];

/** The command line of the MCP Inspector, as a person would run it to look at a server. */
function inspect(place: Workplace, ...args: string[]): Promise<Finished> {
  const script = findScript('@modelcontextprotocol/inspector', 'clients/launcher/build/index.js');
  const all = [script, '--cli', ...args, '--connect-timeout', String(patient(15_000)), '--format', 'json'];
  return finish(spawn(findNode22(), all, { cwd: place.folder, stdio: 'pipe' }));
}

function resultOf({ code, stdout, stderr }: Finished): JsonObject {
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return (JSON.parse(stdout) as { result: JsonObject }).result;
}

/** Asks for the five tools and runs one of a server behind them. */
async function lookAt(place: Workplace, ...target: string[]): Promise<void> {
  const { tools } = resultOf(await inspect(place, ...target, '--method', 'tools/list'));
  expect((tools as JsonObject[]).map(({ name }) => name).toSorted()).toEqual(META_TOOLS.toSorted());
  const call = ['--method', 'tools/call', '--tool-name', 'execute_tool'];
  const args = ['server=old', 'tool=echo', 'arguments={"message":"hello from the Inspector"}'];
  const given = args.flatMap((each) => ['--tool-arg', each]);
  expect(resultOf(await inspect(place, ...target, ...call, ...given))).toMatchObject({
    content: [{ type: 'text', text: 'hello from the Inspector' }],
  });
}

it(
  'CONN-1 the MCP Inspector lists and calls over stdio',
  async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    // The Inspector takes --config for itself; the file lies where toolscout is started and is approved there.
    const state = join(place.folder, 'state');
    const approval = [CLI, 'config', 'approve', '--yes', '--state-dir', state];
    const approved = await finish(spawn(process.execPath, approval, { cwd: place.folder }));
    expect(approved.code).toBe(0);
    await lookAt(place, process.execPath, CLI, 'serve', '--stdio', '--state-dir', state);
  },
  PATIENCE_MS,
);

it(
  'CONN-1 the MCP Inspector lists and calls over HTTP',
  async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const [, url] = await lineMatching(place.start('serve', '--port', '0'), /MCP endpoint\s+(http:\S+)/);
    await lookAt(place, url!, '--transport', 'http');
  },
  PATIENCE_MS,
);

it(
  'CONN-1 the MCP Inspector is told what went wrong when a tool fails',
  async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const [, url] = await lineMatching(place.start('serve', '--port', '0'), /MCP endpoint\s+(http:\S+)/);
    const args = ['--tool-arg', 'server=old', '--tool-arg', 'tool=no-such-tool'];
    const call = ['--transport', 'http', '--method', 'tools/call', '--tool-name', 'execute_tool', ...args];
    const { code, stdout } = await inspect(place, url!, ...call);
    expect(code).not.toBe(0);
    expect(stdout).toContain('TOOL_NOT_FOUND');
  },
  PATIENCE_MS,
);
