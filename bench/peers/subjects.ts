import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** How a tool is called through a subject. */
export type Address = (tool: string, args: object) => { name: string; arguments: Record<string, unknown> };

/** One way to reach the server: directly, through toolscout or through a peer. */
export interface Subject {
  readonly name: string;
  readonly over: 'stdio' | 'http';
  readonly command: string;
  readonly args: (folder: string, port: number, tools: number) => readonly string[];
  readonly env?: (folder: string) => Record<string, string>;
  /** Writes what the subject reads at its start. */
  readonly prepare?: (folder: string, tools: number) => void;
  /** It speaks the older HTTP transport of MCP, with a stream of its own for answers. */
  readonly isSse?: boolean;
  readonly call: Address;
  /** How it is asked for a tool in words; without it an agent gets all of them. */
  readonly search?: (query: string) => { name: string; arguments: Record<string, unknown> };
  /** It is not installed, and why. */
  readonly absent?: string;
}

/** Peers and the versions that are measured. */
const PEERS = { 'mcp-broker': '0.3.0', 'mcp-hub': '4.2.1', 'mcp-proxy': '6.7.19', supergateway: '4.0.0' } as const;

const NODE = process.execPath;
const SERVER = fileURLToPath(new URL('server.mjs', import.meta.url));
const CLI = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const CACHE = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'toolscout-bench', 'peers');

const serverArgs = (tools: number): string[] => [SERVER, `--tools=${tools}`];
const plainly: Address = (tool, args) => ({ name: tool, arguments: { ...args } });

/** Installs a peer outside of the repository; answers its script, or why there is none. */
function install(name: keyof typeof PEERS): { readonly script: string; readonly absent?: string } {
  const version = PEERS[name];
  const folder = join(CACHE, `${name}@${version}`);
  const home = join(folder, 'node_modules', name);
  try {
    if (!existsSync(join(home, 'package.json'))) {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'package.json'), '{"private":true}');
      execFileSync('npm', ['install', '--no-audit', '--no-fund', `${name}@${version}`], {
        cwd: folder,
        stdio: 'pipe',
        timeout: 300_000,
      });
      // Newer versions of npm leave out install scripts, which build native modules.
      execFileSync('npm', ['rebuild'], { cwd: folder, stdio: 'pipe', timeout: 900_000 });
    }
    const { bin } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8')) as {
      bin: string | Record<string, string>;
    };
    return { script: join(home, typeof bin === 'string' ? bin : bin[name]!) };
  } catch (thrown) {
    return { script: '', absent: `it could not be installed: ${String(thrown).split('\n')[0]}` };
  }
}

function toolscout(over: 'stdio' | 'http'): Subject {
  return {
    name: `toolscout (${over})`,
    over,
    command: NODE,
    args: (folder, port) => [
      CLI,
      'serve',
      ...(over === 'stdio' ? ['--stdio'] : ['--port', String(port)]),
      '--config',
      join(folder, 'c.json'),
      '--state-dir',
      join(folder, 'state'),
    ],
    prepare: (folder, tools) =>
      writeFileSync(
        join(folder, 'c.json'),
        JSON.stringify({ servers: { bench: { command: NODE, args: serverArgs(tools) } } }),
      ),
    call: (tool, args) => ({ name: 'execute_tool', arguments: { server: 'bench', tool, arguments: args } }),
    search: (query) => ({ name: 'search_tools', arguments: { query } }),
  };
}

/** Everything that is compared. */
export function subjects(): Subject[] {
  const broker = install('mcp-broker');
  const hub = install('mcp-hub');
  const proxy = install('mcp-proxy');
  const supergateway = install('supergateway');
  const mcpServers = (tools: number) => ({ mcpServers: { bench: { command: NODE, args: serverArgs(tools) } } });
  return [
    {
      name: 'no gateway',
      over: 'stdio',
      command: NODE,
      args: (_folder, _port, tools) => serverArgs(tools),
      call: plainly,
    },
    toolscout('stdio'),
    toolscout('http'),
    {
      name: 'mcp-hub 4.2.1',
      over: 'http',
      command: NODE,
      args: (folder, port) => [hub.script, '--port', String(port), '--config', join(folder, 'c.json')],
      prepare: (folder, tools) => writeFileSync(join(folder, 'c.json'), JSON.stringify(mcpServers(tools))),
      isSse: true,
      call: (tool, args) => ({ name: `bench__${tool}`, arguments: { ...args } }),
      absent: hub.absent,
    },
    {
      name: 'mcp-proxy 6.7.19',
      over: 'http',
      command: NODE,
      args: (_folder, port, tools) => [
        proxy.script,
        '--port',
        String(port),
        '--host',
        '127.0.0.1',
        '--',
        NODE,
        ...serverArgs(tools),
      ],
      call: plainly,
      absent: proxy.absent,
    },
    {
      name: 'supergateway 4.0.0',
      over: 'http',
      command: NODE,
      args: (_folder, port, tools) => [
        supergateway.script,
        '--stdio',
        [NODE, ...serverArgs(tools)].join(' '),
        '--outputTransport',
        'streamableHttp',
        '--stateful',
        '--logLevel',
        'none',
        '--port',
        String(port),
      ],
      call: plainly,
      absent: supergateway.absent,
    },
    {
      name: 'mcp-broker 0.3.0',
      over: 'stdio',
      command: NODE,
      args: () => [broker.script, 'serve'],
      env: (folder) => ({ MCP_BROKER_HOME: folder }),
      prepare: (folder, tools) => writeFileSync(join(folder, 'servers.json'), JSON.stringify(mcpServers(tools))),
      call: (tool, args) => ({
        name: 'call_tools',
        arguments: { invocations: [{ server_name: 'bench', tool_name: tool, arguments: args }] },
      }),
      search: (query) => ({ name: 'search_tools', arguments: { query } }),
      absent: broker.absent,
    },
  ];
}
