import { describe, expect, it } from 'vitest';
import { launchNameOf } from './launch-name.js';

const started = (target: string): string | undefined => launchNameOf({ type: 'stdio', target, secrets: [] });
const reached = (target: string): string | undefined => launchNameOf({ type: 'http', target, secrets: [] });

describe('launchNameOf', () => {
  it.each([
    ['npx -y @linear/mcp@1.2.0 --read-only', '@linear/mcp'],
    ['npx.cmd --package=notion-mcp run-it', 'notion-mcp'],
    ['C:\\nodejs\\npx.cmd -y airtable-mcp-server', 'airtable-mcp-server'],
    ['uvx --from mcp-server-git==1.0 serve', 'mcp-server-git'],
    ['pnpm dlx figma-mcp', 'figma-mcp'],
    ['docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:latest', 'github/github-mcp-server'],
    ['deno run -A npm:@scope/tool', '@scope/tool'],
  ])('FIND-7 takes the package or image of %s', (target, name) => {
    expect(started(target)).toBe(name);
  });

  it.each([
    'node /home/ann/secret-project/index.js',
    'npx -y /home/ann/mcp',
    'python -m jira',
    'npx',
    'docker run -e',
    '',
  ])('FIND-7 takes nothing of a path or a plain program: %s', (target) => {
    expect(started(target)).toBeUndefined();
  });

  it.each([
    ['https://mcp.linear.app/mcp', 'linear'],
    ['https://api.githubcopilot.com/mcp/', 'githubcopilot'],
    ['https://notes.vercel.app/sse', 'notes'],
    ['http://127.0.0.1:3000/mcp', undefined],
    ['http://[::1]:3000/mcp', undefined],
    ['http://localhost:8080', undefined],
    ['${HOST}/mcp', undefined],
  ])('FIND-7 takes the name in the host of %s', (target, name) => {
    expect(reached(target)).toBe(name);
  });
});
