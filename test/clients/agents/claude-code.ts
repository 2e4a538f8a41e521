import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CellInput, Client } from '../client.js';

const PLATFORM = `@anthropic-ai/claude-code-${process.platform}-${process.arch}`;

function create(name: string, entry: object, modes?: Client['modes']): Client {
  return {
    name,
    modes,
    packages: { '@anthropic-ai/claude-code': '2.1.325' },
    kind: 'agent',
    async launch(cell: CellInput) {
      const { transport, home, command, args, url, installed, modelUrl } = cell;
      const server =
        transport === 'stdio' ? { type: 'stdio', command, args, ...entry } : { type: 'http', url, ...entry };
      await writeFile(join(home, 'mcp.json'), JSON.stringify({ mcpServers: { toolscout: server } }));
      return {
        command: join(installed, 'node_modules', PLATFORM, 'claude'),
        args: '-p Go --model claude-sonnet-4-5 --mcp-config mcp.json --strict-mcp-config --allowedTools mcp__toolscout'.split(
          ' ',
        ),
        env: {
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: 'stub',
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        },
      };
    },
  };
}

/** Claude Code, which defers the tools of every MCP server. */
export const claudeCode = create('claude-code', {});

/** Claude Code with the field of an entry that keeps the tools of a server in every request. */
export const claudeCodeAlwaysLoad = create('claude-code-always-load', { alwaysLoad: true }, ['meta']);
