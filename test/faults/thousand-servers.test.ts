import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { commandLinesWith, fixture } from '../support/fixture.js';
import { countTrials, formOf } from '../support/long-form.js';
import { workplace } from '../support/toolscout.js';
import { patient } from '../support/patience.js';

const SERVERS = formOf(60, 1000);
const HANGING = SERVERS / 10;
/** The last ones wait until the test has seen that all others are known. */
const LATE = SERVERS / 10;

const hangs = (index: number): boolean => index % (SERVERS / HANGING) === 0;

// Each server is a process of its own.
describe('many servers', { timeout: patient(600_000) }, () => {
  it('DISC-3 R1 A38 nine of ten are discovered while the others hang, progress is reported, and no process is left', async () => {
    const names = Array.from({ length: countTrials(SERVERS) }, (_, index) => `s${String(index).padStart(4, '0')}`);
    const place = await workplace({});
    const gate = join(place.folder, 'gate');
    // Every tenth hangs, so that they stand in the way from the beginning.
    const servers = Object.fromEntries(
      names.map((name, index) => {
        const late = index >= SERVERS - LATE ? [`--after=${gate}`] : [];
        const flags = hangs(index) ? ['--hang'] : late;
        return [name, { ...fixture('many', `--name=${name}`, ...flags), connectTimeoutMs: 600_000 }];
      }),
    );
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

    const becomes = (count: number): Promise<void> =>
      expect.poll(async () => (await ready()).known, { timeout: patient(500_000), interval: 100 }).toBe(count);
    // Progress can be watched: the number grows before all are there.
    const late = names.filter((_, index) => index >= SERVERS - LATE && !hangs(index)).length;
    await becomes(SERVERS - HANGING - late);
    await writeFile(gate, '');
    await becomes(SERVERS - HANGING);

    const status = existsSync('/proc/self/status') ? readFileSync(`/proc/${child.pid}/status`, 'utf8') : '';
    expect(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000).toBeLessThan(250);

    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    await expect.poll(() => commandLinesWith(`--of=${place.folder}`), { timeout: patient(60_000) }).toEqual([]);
    const list = JSON.parse((await place.run('servers', '--json')).stdout) as {
      servers: Array<{ id: string; tools: number }>;
    };
    const learned = list.servers.filter(({ tools }) => tools === 1).map(({ id }) => id);
    expect(learned).toEqual(names.filter((_, index) => !hangs(index)));
  });
});
