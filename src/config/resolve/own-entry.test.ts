import { describe, expect, it } from 'vitest';
import { isOwnAddress, isOwnEntry, ownLaunchProblem, type Self } from './own-entry.js';

describe('isOwnEntry', () => {
  const self: Self = { script: '/opt/x/cli.js', urls: ['http://127.0.0.1:9000/mcp'], hostname: 'laptop' };
  it.each([
    [{ command: 'toolscout', args: ['serve', '--stdio'] }],
    [{ command: '/usr/local/bin/toolscout', args: ['serve'] }],
    [{ command: 'npx', args: ['-y', 'toolscout@latest', 'serve', '--stdio'] }],
    [{ command: 'cmd', args: ['/c', 'npx toolscout serve --stdio'] }],
    [{ command: 'sh', args: ['-c', 'exec npx -y toolscout serve --stdio'] }],
    [{ command: 'node', args: ['/opt/x/cli.js'] }],
    [{ command: 'node', args: ['C:\\tools\\toolscout\\dist\\cli.js', 'serve'] }],
    [{ url: 'http://localhost:7077/mcp' }],
    [{ url: 'http://127.0.0.1:9000/mcp' }],
    [{ command: 'npx', args: ['mcp-remote', 'http://127.0.0.1:7077/mcp'] }],
    [{ command: 'npx', args: ['toolscout'] }],
    [{ command: 'npx', args: ['-y', 'toolscout@1.2.3'] }],
    [{ command: 'bunx', args: ['toolscout'] }],
    [{ command: 'pnpm', args: ['dlx', 'toolscout'] }],
    [{ command: 'env', args: ['A=1', 'toolscout'] }],
    [{ command: 'env', args: ['A=1', 'node', '--no-warnings', '/opt/x/cli.js'] }],
    [{ command: 'node', args: ['cli.js', 'serve'], cwd: '/opt/x' }],
    [{ command: 'bash', args: ['-lc', 'A=1 exec "toolscout" serve --stdio'] }],
    [{ command: 'C:\\nodejs\\npx.cmd', args: ['-y', 'toolscout'] }],
    [{ command: 'docker', args: ['run', '-i', 'ghcr.io/x/toolscout:1', 'serve', '--stdio'] }],
    [{ url: 'http://[::1]:7077/mcp' }],
    [{ url: 'http://0.0.0.0:7077/mcp/' }],
    [{ url: 'http://127.1:7077/servers/github/mcp' }],
    [{ url: 'http://LAPTOP:7077/mcp' }],
    [{ url: 'http://laptop.local:7077/mcp' }],
    [{ url: 'http://[::ffff:127.0.0.1]:7077/mcp' }],
    [{ url: 'http://127.0.0.1:9000/servers/x/mcp' }],
  ])('CFG-5 recognises itself: %j', (entry) => {
    expect(isOwnEntry(entry, self)).toBe(true);
  });

  it.each([
    [{ command: 'npx', args: ['server-filesystem', '/home/me/toolscout'] }],
    [{ command: 'node', args: ['/home/me/toolscout/other.js', 'serve'] }],
    [{ url: 'http://127.0.0.1:7078/mcp' }],
    [{ url: 'https://toolscout.example.com/mcp' }],
    [{ command: 'serve' }],
    [{ command: 'npx', args: ['-y', 'toolscout-plugin'] }],
    [{ command: 'python', args: ['-m', 'toolscout_notes', '/x/toolscout'] }],
    [{ url: 'http://127.0.0.1:7077/other' }],
    [{ url: 'http://team.example:7077/mcp' }],
  ])('CFG-5 and no other entry: %j', (entry) => {
    expect(isOwnEntry(entry, self)).toBe(false);
  });
});

describe('a server of a configuration', () => {
  const self: Self = { script: '/opt/x/cli.js', hostname: 'laptop' };
  const served = { port: 8080, publicUrl: 'https://tools.example/base', config: '/home/me/toolscout.config.json' };
  const problem = (launch: Parameters<typeof ownLaunchProblem>[0]): string | undefined =>
    ownLaunchProblem(launch, self, served);

  it('CFG-5 is toolscout itself at the port that the configuration says, and at its public address', () => {
    for (const url of [
      'http://localhost:8080/mcp',
      'http://0.0.0.0:8080/servers/a/mcp',
      'https://tools.example/base/mcp',
      'https://tools.example/base/servers/a/mcp',
    ]) {
      expect(problem({ url }), url).toMatch(/address of toolscout itself \(http\.port 8080\)/);
    }
    for (const url of ['http://localhost:7077/mcp', 'https://tools.example/mcp', 'https://team.example/mcp']) {
      expect(problem({ url }), url).toBeUndefined();
    }
  });

  it('CFG-5 that starts toolscout is another one only when it names another configuration', () => {
    const args = ['toolscout', 'serve', '--stdio'];
    expect(problem({ command: 'npx', args })).toMatch(/starts toolscout itself/);
    expect(problem({ command: 'npx', args: [...args, '--config', served.config] })).toMatch(/itself/);
    expect(problem({ command: 'npx', args: [...args, `--config=${served.config}`] })).toMatch(/itself/);
    expect(problem({ command: 'npx', args: [...args, '--config', '/team/toolscout.json'] })).toBeUndefined();
  });

  it('REG-4 CFG-5 an address of an inventory is known without a path', () => {
    expect(isOwnAddress('http://127.0.0.1:8080', self, served)).toBe(true);
    expect(isOwnAddress('http://127.0.0.1:8081', self, served)).toBe(false);
    expect(isOwnAddress('not a url', self, served)).toBe(false);
  });
});
