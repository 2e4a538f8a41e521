import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { commandLine } from './support/command-line.js';
import { STARTS_PROCESSES } from './support/patience.js';

const read = (file: string): string => readFileSync(fileURLToPath(new URL(`../${file}`, import.meta.url)), 'utf8');

/** The flags that `serve` knows. */
async function knownFlags(): Promise<Set<string>> {
  return new Set((await commandLine(['serve', '--help'])).stdout.match(/--[a-z-]+/g));
}

describe('what is deployed', STARTS_PROCESSES, () => {
  it('CLI-1 the image is built from the lock file, runs as another user than root and has a health check', async () => {
    const text = read('Dockerfile');
    const stages = text.split(/^FROM /m).slice(1);
    const last = stages.at(-1)!;
    expect(stages.map((stage) => stage.split(/\s/)[0])).toEqual(['node:20-slim', 'node:20-slim', 'node:20-slim']);
    expect(text.match(/npm (?:ci|install|i)\b/g)).toEqual(['npm ci', 'npm ci']);
    expect(last.indexOf('USER node')).toBeGreaterThan(-1);
    expect(last.slice(last.indexOf('USER node'))).not.toMatch(/^USER (?!node)/m);
    expect(last).toMatch(/^HEALTHCHECK [^]*?CMD .*127\.0\.0\.1:7077\/health/m);
    // The files that the package publishes are those that the image has.
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    for (const folder of ['dist', 'assets']) {
      expect(files).toContain(folder);
      expect(last).toContain(`/build/${folder} ${folder}`);
    }
    const command = JSON.parse(/^CMD (\[.*\])$/m.exec(last)![1]!) as string[];
    const known = await knownFlags();
    expect(command[0]).toBe('serve');
    for (const flag of command.filter((word) => word.startsWith('--'))) expect(known).toContain(flag);
  });

  it('CLI-1 the systemd unit starts serve, reloads with SIGHUP and takes rights away', async () => {
    const text = read('deploy/toolscout.service');
    const [, args = ''] = /^ExecStart=\S+ \S+cli\.js (.*)$/m.exec(text)!;
    const known = await knownFlags();
    expect(args).toMatch(/^serve /);
    for (const flag of args.match(/--[a-z-]+/g)!) expect(known).toContain(flag);
    for (const line of [
      'ExecReload=/bin/kill -HUP $MAINPID',
      'DynamicUser=yes',
      'NoNewPrivileges=yes',
      'CapabilityBoundingSet=',
      'ProtectSystem=strict',
      'ProtectHome=yes',
      'PrivateTmp=yes',
      'SystemCallFilter=@system-service',
      'UMask=0077',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
  });
});
