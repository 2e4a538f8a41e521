import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { finish, lineMatching, workplace } from '../support/toolscout.js';

/** A free port. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

describe('scripts of the built command', STARTS_PROCESSES, () => {
  it('CODE-5 a script that waits for the user goes on after kill -9 and a start, and no call is made twice', async () => {
    const place = await workplace({});
    const file = join(place.folder, 'calls');
    await place.write({
      scripts: true,
      servers: { log: fixture('recorder', `--file=${file}`), asks: fixture('asking', '--modern') },
    });
    const port = await freePort();
    const serve = async (): Promise<ReturnType<typeof place.start>> => {
      const child = place.start('serve', '--port', port);
      await lineMatching(child, /http:\/\/127\.0\.0\.1:\d+\/mcp/);
      return child;
    };
    let serving = await serve();
    const client = new Client(
      { name: 'test-host', version: '1' },
      { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    );
    let killed = 0;
    client.setRequestHandler('elicitation/create', async () => {
      const gone = once(serving, 'exit');
      serving.kill('SIGKILL');
      await gone;
      killed += 1;
      serving = await serve();
      return { action: 'accept', content: { name: `Ann ${killed}` } };
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
    onTestFinished(() => client.close());
    const script = `
      const seed = Math.random();
      const started = Date.now();
      const written = [await tools.log.write({ value: 'one' })];
      const first = await tools.asks.elicit({ message: 'who' });
      written.push(await tools.log.write({ value: first.content.name }));
      const second = await tools.asks.elicit({ message: 'and' });
      written.push(await tools.log.write({ value: second.content.name }));
      return { written, isSame: seed !== Math.random() && started <= Date.now() };
    `;
    const answer = await client.callTool({ name: 'run_script', arguments: { script } });
    const [{ text } = { text: '' }] = answer.content as Array<{ text: string }>;
    expect(JSON.parse(text)).toEqual({ written: ['wrote one', 'wrote Ann 1', 'wrote Ann 2'], isSame: true });
    expect(killed).toBe(2);
    const calls = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { method: string; params: { arguments?: { value: string } } })
      .filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ params }) => params.arguments?.value)).toEqual(['one', 'Ann 1', 'Ann 2']);
  });

  it('CODE-5 a 2025-era host finds its script again by sending it again after kill -9, and no call is made twice', async () => {
    const place = await workplace({});
    const file = join(place.folder, 'calls');
    await place.write({
      scripts: true,
      servers: { log: fixture('recorder', `--file=${file}`), asks: fixture('asking', '--modern') },
    });
    const port = await freePort();
    const script = `
      const written = [await tools.log.write({ value: 'one' })];
      const { content } = await tools.asks.elicit({ message: 'who' });
      written.push(await tools.log.write({ value: content.name }));
      return written;
    `;
    const serve = async (): Promise<ReturnType<typeof place.start>> => {
      const child = place.start('serve', '--port', port);
      await lineMatching(child, /http:\/\/127\.0\.0\.1:\d+\/mcp/);
      return child;
    };
    /** A client of the 2025 era that does something when the user is asked. */
    const connect = async (onAsked: () => Promise<string>): Promise<ClientV1> => {
      const client = new ClientV1({ name: 'test-host', version: '1' }, { capabilities: { elicitation: {} } });
      client.setRequestHandler(ElicitRequestSchema, async () => ({
        action: 'accept',
        content: { name: await onAsked() },
      }));
      await client.connect(new HttpV1(new URL(`http://127.0.0.1:${port}/mcp`)));
      onTestFinished(() => client.close());
      return client;
    };
    const run = (client: ClientV1) => client.callTool({ name: 'run_script', arguments: { script } });

    const serving = await serve();
    const first = await connect(async () => {
      const gone = once(serving, 'exit');
      serving.kill('SIGKILL');
      await gone;
      return 'nobody';
    });
    const lost = run(first).catch((thrown: Error) => thrown);
    await once(serving, 'exit');
    await serve();
    const second = await connect(async () => 'Ann');
    const { content, isError } = await run(second);
    const texts = (content as Array<{ text: string }>).map(({ text }) => text);
    expect(isError ?? false).toBe(false);
    expect(JSON.parse(texts[0]!)).toEqual(['wrote one', 'wrote Ann']);
    expect(texts[1]).toContain('went on with the same script');
    const calls = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { method: string; params: { arguments?: { value: string } } })
      .filter(({ method }) => method === 'tools/call');
    expect(calls.map(({ params }) => params.arguments?.value)).toEqual(['one', 'Ann']);
    await first.close();
    await lost;
  });

  it('CODE-9 run takes a file or stdin, prints the value, and ends with the exit code of the error', async () => {
    const place = await workplace({ servers: { old: fixture('legacy') } });
    const file = join(place.folder, 'sum.js');
    await writeFile(file, 'print("adding");\nreturn (await tools.old.add({ a: 19, b: 23 })).sum;\n');
    expect(await place.run('run', file)).toMatchObject({
      code: 0,
      stdout: '42\n',
      stderr: expect.stringContaining('adding'),
    });
    const piped = place.start('run', '-', '--json');
    piped.stdin?.write('return { a: [1] }');
    const { code, stdout } = await finish(piped);
    expect([code, JSON.parse(stdout)]).toEqual([0, { success: true, value: { a: [1] }, printed: [], calls: 0 }]);
    await writeFile(file, 'const a = 1;\n  a.b.c;');
    expect(await place.run('run', file)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('line 2, column 3'),
    });
    expect((await place.run('run', join(place.folder, 'nothing.js'))).code).toBe(64);
  });
});

describe('scripts of the command from source', STARTS_PROCESSES, () => {
  it('CODE-9 a script runs in any working directory', async () => {
    const { folder } = await workplace({});
    const bin = fileURLToPath(new URL('../../src/bin.ts', import.meta.url));
    const script = join(folder, 'script.js');
    await writeFile(script, 'return 1 + 1');
    const args = ['--import', import.meta.resolve('tsx'), bin, 'run', script, '--config', join(folder, 'c.json')];
    await writeFile(join(folder, 'c.json'), '{}');
    const command = spawn(process.execPath, [...args, '--state-dir', join(folder, 'state')], { cwd: folder });
    expect(await finish(command)).toMatchObject({ code: 0, stdout: '2\n' });
  });
});
