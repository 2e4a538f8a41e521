import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { commandLinesWith, fixture } from '../support/fixture.js';
import { countTrials, formOf } from '../support/long-form.js';
import { workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

const SERVERS = formOf(60, 1000);
const HANGING = SERVERS / 10;

// Each server is a process of its own.
describe('many servers', { timeout: patient(600_000) }, () => {
  it('DISC-3 R1 A38 nine of ten are discovered while the others hang, progress is reported, and no process is left', async () => {
    const names = Array.from({ length: countTrials(SERVERS) }, (_, index) => `s${String(index).padStart(4, '0')}`);
    // Every tenth hangs, so that they stand in the way from the beginning.
    const servers = Object.fromEntries(
      names.map((name, index) => {
        const hangs = index % (SERVERS / HANGING) === 0;
        return [
          name,
          { ...fixture('many', `--name=${name}`, ...(hangs ? ['--hang'] : [])), connectTimeoutMs: 600_000 },
        ];
      }),
    );
    const place = await workplace({});
    // The folder stands in every command line, so that whoever is left can be found.
    for (const server of Object.values(servers)) server.args.push(`--of=${place.folder}`);
    await place.write({ servers, maxParallelDiscoveries: 8 });
    const child = place.start('serve', '--port', '0', '--verbose');
    child.stderr!.resume();
    const base = await new Promise<string>((resolve) => {
      let text = '';
      child.stdout!.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const match = /(http:\/\/127\.0\.0\.1:\d+)\/mcp/.exec(text);
        if (match) resolve(match[1]!);
      });
    });
    const ready = async (): Promise<{ known: number }> => (await (await fetch(`${base}/ready`)).json()) as never;

    const seen: number[] = [];
    await expect
      .poll(
        async () => {
          const { known } = await ready();
          seen.push(known);
          return known;
        },
        { timeout: patient(500_000), interval: 100 },
      )
      .toBe(SERVERS - HANGING);
    // Progress can be watched: the number grows in many steps, not in one at the end.
    expect(new Set(seen).size).toBeGreaterThan(3);

    const status = existsSync('/proc/self/status') ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
    expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000).toBeLessThan(250);

    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    await expect.poll(() => commandLinesWith(`--of=${place.folder}`), { timeout: patient(60_000) }).toEqual([]);
    const list = JSON.parse((await place.run('servers', '--json')).stdout) as {
      servers: Array<{ id: string; tools: number }>;
    };
    const learned = list.servers.filter(({ tools }) => tools === 1).map(({ id }) => id);
    expect(learned).toEqual(names.filter((_, index) => index % (SERVERS / HANGING) !== 0));
  });
});
