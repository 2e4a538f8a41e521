import { readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLabelFile } from '../../src/app/label-file.js';
import { parseQueries } from '../../src/front/cli/labelled-files.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { openToolscout } from '../support/open-toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const servers = { old: fixture('legacy') };
const env = { PATH: process.env['PATH'], ONE: 'first-key-0123456789', TWO: 'second-key-0123456789' };
const keys = [
  { name: 'one', key: '${ONE}' },
  { name: 'two', key: '${TWO}' },
];
const as = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

describe('labelled queries', STARTS_PROCESSES, () => {
  it('STUDIO-4 what was meant is appended to a file that eval reads, and measures', async () => {
    const stateDir = await temporaryDirectory();
    const gateway = await openToolscout({ servers }, { stateDir });
    await gateway.servers.discover();
    const { post, send } = await openHttpApp(gateway);
    for (const query of ['say it again', 'repeat "this"\n{"id":"x"}']) {
      expect((await post('/v1/labels', { query, server: 'old', tool: 'echo' })).status).toBe(201);
    }
    const { file, labels } = (await (await send('/v1/labels')).json()) as { file: string; labels: object[] };
    expect([file, labels.length]).toEqual([join(stateDir, 'labels.jsonl'), 2]);
    const queries = parseQueries(await readFile(file, 'utf8'), file);
    expect(queries).toMatchObject([{ relevant: ['old:echo'] }, { relevant: ['old:echo'] }]);
    const report = await gateway.reports.evaluate(queries);
    expect(JSON.stringify(report)).toContain('say it again');
    // A second process over the same state has them too.
    const other = await openHttpApp(await openToolscout({ servers }, { stateDir }));
    expect(await (await other.send('/v1/labels')).json()).toMatchObject({ labels: [{}, {}] });
  });

  it('STUDIO-4 an unknown tool is not labelled; without a state directory nothing is', async () => {
    const { post, send } = await openHttpApp(await openToolscout({ servers }, { stateDir: 'memory' }));
    expect((await post('/v1/labels', { query: 'x', server: 'nowhere', tool: 'x' })).status).toBe(404);
    expect((await send('/v1/labels')).status).toBe(400);
  });

  it('STUDIO-4 broken lines hide nothing, and a link is not followed', async () => {
    const directory = await temporaryDirectory();
    const file = createLabelFile(directory);
    expect(await file.read()).toEqual([]);
    await writeFile(file.path, '{"query":"a","relevant":["s:t",7]}\nnonsense\n7\n{"id":"i","query":"b"}\n');
    expect(await file.read()).toEqual([{ id: '', query: 'a', relevant: ['s:t'] }]);
    const linked = await temporaryDirectory();
    const target = join(linked, 'target');
    await writeFile(target, '');
    await symlink(target, join(linked, 'labels.jsonl'));
    await expect(createLabelFile(linked).append({ id: '1', query: 'q', relevant: [] })).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('labels.jsonl cannot be written: ') as string,
    });
    expect(await readFile(target, 'utf8')).toBe('');
    await writeFile(file.path, 'x'.repeat(8 * 1024 * 1024 + 1));
    await expect(file.append({ id: '1', query: 'q', relevant: [] })).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: `The labelled queries in ${file.path} are larger than 8388608 bytes.`,
      suggestion: 'Move the file away; toolscout starts a new one.',
    });
    await expect(createLabelFile(file.path).read()).rejects.toMatchObject({
      code: 'STORE_ERROR',
      message: expect.stringContaining('labels.jsonl cannot be read: ') as string,
      suggestion: 'Check that this user can read the file.',
    });
  });
});

describe('saved calls', STARTS_PROCESSES, () => {
  it('STUDIO-5 S12 belong to the principal who saved them, in all processes; another principal can import an export', async () => {
    const stateDir = await temporaryDirectory();
    const config = { servers, http: { auth: { keys } } };
    const one = await openHttpApp(await openToolscout(config, { env, stateDir }));
    const two = await openHttpApp(await openToolscout(config, { env, stateDir }));
    const call = { name: 'greet', server: 'old', tool: 'echo', arguments: { message: 'private words' } };
    const made = (await (await one.post('/v1/saved-calls', call, as(env.ONE))).json()) as {
      calls: Array<{ id: string }>;
    };
    const listed = async (http: typeof one, key: string): Promise<unknown[]> =>
      ((await (await http.send('/v1/saved-calls', { headers: as(key) })).json()) as { calls: unknown[] }).calls;
    expect(await listed(two, env.ONE)).toMatchObject([call]);
    expect(await listed(one, env.TWO)).toEqual([]);
    const remove = (http: typeof one, key: string): Promise<Response> =>
      http.send(`/v1/saved-calls/${made.calls[0]!.id}`, { method: 'DELETE', headers: as(key) });
    expect((await remove(one, env.TWO)).status).toBe(404);
    const exported = await one.send('/v1/saved-calls?format=json', { headers: as(env.ONE) });
    expect(exported.headers.get('content-disposition')).toContain('attachment');
    const imported = await two.post('/v1/saved-calls', await exported.json(), as(env.TWO));
    expect(imported.status).toBe(201);
    expect(await listed(one, env.TWO)).toMatchObject([call]);
    expect((await remove(two, env.ONE)).status).toBe(204);
    expect([(await listed(one, env.ONE)).length, (await listed(one, env.TWO)).length]).toEqual([0, 1]);
  });

  it('STUDIO-5 two processes that save at once lose nothing, and the number of saved calls is bounded', async () => {
    const stateDir = await temporaryDirectory();
    const gateways = [await openToolscout({ servers }, { stateDir }), await openToolscout({ servers }, { stateDir })];
    const call = { name: 'x', server: 'old', tool: 'echo', arguments: {} };
    await Promise.all(gateways.map((gateway) => gateway.studio.saveCalls([call])));
    expect(await gateways[0]!.studio.savedCalls()).toHaveLength(2);
    const many = Array.from({ length: 199 }, () => call);
    await expect(gateways[0]!.studio.saveCalls(many)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    const large = { ...call, arguments: { pad: 'x'.repeat(1024 * 1024) } };
    await expect(gateways[0]!.studio.saveCalls([large])).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await gateways[1]!.studio.savedCalls()).toHaveLength(2);
  });
});
