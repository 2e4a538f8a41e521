import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openGateway } from '../../src/app/open-gateway.js';
import type { CallResult } from '../../src/model/call.js';
import { fixture, startHttpFixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { formOf, repetitions } from '../support/long-form.js';
import { startCounter, textOf } from '../support/open-toolscout.js';
import { patient } from '../support/patience.js';

/** Milliseconds between two calls: 200 a second in the long form. */
const EVERY_MS = formOf(20, 5);

it(
  'R6 reloads under load fail no call on unchanged servers, and their processes stay',
  { timeout: patient(1_800_000) },
  async () => {
    const far = await startHttpFixture('http');
    onTestFinished(() => far.stop());
    const starts = await startCounter();
    const folder = await temporaryDirectory();
    const file = join(folder, 'toolscout.config.json');
    const unchanged = {
      stays: { ...fixture('legacy', starts.flag), rateLimit: false },
      far: { url: far.url, rateLimit: false },
    };
    const rules = (at: number): object[] => [{ pattern: `nothing-${at}`, enabled: false }];
    /** What a reload finds, by turns; `true` where it must be refused. */
    const versions: Array<(at: number) => { readonly text: string; readonly isInvalid?: boolean }> = [
      (at) => ({ text: JSON.stringify({ servers: { ...unchanged, [`new${at}`]: fixture('many', `--name=n${at}`) } }) }),
      (at) => ({ text: JSON.stringify({ servers: { ...unchanged, moves: fixture('many', `--name=m${at}`) } }) }),
      (at) => ({ text: JSON.stringify({ servers: { ...unchanged, moves: fixture('many', `--name=x${at}`) } }) }),
      () => ({ text: '{"servers": {', isInvalid: true }),
      (at) => ({ text: JSON.stringify({ servers: unchanged, toolRules: rules(at) }) }),
      () => ({ text: JSON.stringify({ servers: { stays: { comand: 'x' } } }), isInvalid: true }),
      () => ({ text: JSON.stringify({ servers: unchanged }) }),
    ];
    await writeFile(file, versions.at(-1)!(0).text);
    const gateway = await openGateway({
      config: file,
      stateDir: join(folder, 'state'),
      env: { PATH: process.env['PATH'] },
      learnAtStart: false,
    });
    onTestFinished(() => gateway.close({ drainMs: 0 }));
    await gateway.servers.discover();
    const pidOf = async (): Promise<number> =>
      (JSON.parse(textOf(await gateway.call('stays', 'argv', {}))) as { pid: number }).pid;
    const pid = await pidOf();
    const started = await starts.pids();

    const failed: CallResult[] = [];
    const running = new Set<Promise<void>>();
    let made = 0;
    const call = async (): Promise<void> => {
      const at = made++;
      const outcome = await gateway.call(at % 2 === 0 ? 'stays' : 'far', 'echo', { message: String(at) });
      if (!outcome.success || textOf(outcome) !== String(at)) failed.push(outcome);
    };
    const load = setInterval(() => {
      const each = call().finally(() => running.delete(each));
      running.add(each);
    }, EVERY_MS);
    onTestFinished(() => clearInterval(load));

    const reloads = repetitions(14, 200);
    for (let at = 0; at < reloads; at++) {
      const { text, isInvalid } = versions[at % versions.length]!(at);
      await writeFile(file, text);
      const before = made;
      if (isInvalid) await expect(gateway.reload()).rejects.toMatchObject({ code: 'CONFIGURATION_ERROR' });
      else await gateway.reload();
      // Each state is used before the next one comes.
      await waitUntil(() => made > before + 4, { what: 'calls in between' });
      expect(failed).toEqual([]);
    }
    clearInterval(load);
    await Promise.all(running);
    expect(failed).toEqual([]);
    expect(made).toBeGreaterThan(4 * reloads);
    expect(await pidOf()).toBe(pid);
    expect(await starts.pids()).toEqual(started);
  },
);
