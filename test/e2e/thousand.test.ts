import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixture.js';
import { workplace } from '../support/toolscout.js';

const SERVERS = 1000;
const HANGING = 100;

describe('a thousand servers', () => {
  it('DISC-3 R1 nine hundred are discovered while a hundred hang, and progress is told', async () => {
    const names = Array.from({ length: SERVERS }, (_, index) => `s${String(index).padStart(4, '0')}`);
    // Every tenth hangs, so that they stand in the way from the beginning.
    const servers = Object.fromEntries(
      names.map((name, index) => {
        const hangs = index % (SERVERS / HANGING) === 0;
        return [name, { ...fixture('many', `--name=${name}`, ...(hangs ? ['--hang'] : [])), connectTimeout: 60_000 }];
      }),
    );
    const place = await workplace({ servers, maxParallelDiscoveries: 8 });
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
        { timeout: 150_000, interval: 500 },
      )
      .toBe(SERVERS - HANGING);
    // Progress can be watched: the number grows in many steps, not in one at the end.
    expect(new Set(seen).size).toBeGreaterThan(3);

    child.kill('SIGTERM');
    await new Promise((resolve) => child.once('exit', resolve));
    const list = JSON.parse((await place.run('servers', '--json')).stdout) as {
      servers: Array<{ id: string; tools: number }>;
    };
    const learned = list.servers.filter(({ tools }) => tools === 1).map(({ id }) => id);
    expect(learned).toEqual(names.filter((_, index) => index % (SERVERS / HANGING) !== 0));
  }, 240_000);
});
