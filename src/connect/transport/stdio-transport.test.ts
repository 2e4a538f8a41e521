import { PassThrough } from 'node:stream';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { waitUntil } from '../../../test/support/fixture.js';
import { ToolscoutError } from '../../kernel/errors.js';
import type { Child, ChildExit } from './child.js';
import { createStdioTransport, type StdioTransportOptions } from './stdio-transport.js';

/** A child made of streams: the port at which a process would be. */
function pretendChild() {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  let exit: ChildExit | undefined;
  let stops = 0;
  let kills = 0;
  let resolveExited: ((exit: ChildExit) => void) | undefined;
  const exited = new Promise<ChildExit>((resolve) => {
    resolveExited = resolve;
  });
  const leave = (how: ChildExit): void => {
    exit = how;
    resolveExited?.(how);
  };
  for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => stops);
  const child: Child = {
    pid: 4711,
    stdin,
    stdout,
    stderr,
    exited,
    gone: exited.then(() => undefined),
    get exit() {
      return exit;
    },
    stop: () => {
      stops += 1;
      return Promise.resolve();
    },
    kill: () => {
      kills += 1;
      return Promise.resolve();
    },
  };
  return { child, stdin, stdout, stderr, leave, stops: () => stops, kills: () => kills };
}

async function open(options: Partial<StdioTransportOptions> = {}) {
  const clock = createFakeClock();
  const pretended = pretendChild();
  const transport = createStdioTransport(pretended.child, { server: 's', clock, ...options });
  const messages: JSONRPCMessage[] = [];
  let closes = 0;
  Object.assign(transport, {
    onmessage: (message: JSONRPCMessage) => messages.push(message),
    onclose: () => (closes += 1),
  });
  await transport.start();
  return { ...pretended, clock, transport, messages, closes: () => closes };
}

const message = { jsonrpc: '2.0' as const, id: 1, method: 'ping' };

describe('createStdioTransport', () => {
  it('S22 skips and counts lines that are not protocol messages', async () => {
    let noise = 0;
    const { stdout, messages } = await open({ onNoise: () => (noise += 1) });
    stdout.write('Starting...\n\n{"a":1}\n{"broken\n[]\n42\n{"jsonrpc":"2.0","id":1,"result":{}}\r\n');
    await waitUntil(() => messages.length === 1);
    expect(noise).toBe(5);
  });

  it('EXEC-3 S22 an answer that cannot be parsed is the failure of its request, not noise alone', async () => {
    let noise = 0;
    const { stdout, messages } = await open({ onNoise: () => (noise += 1) });
    stdout.write('{"jsonrpc":"2.0","id":7,"result":{"n":NaN}}\n{"jsonrpc":"2.0","id":8,"error":"it broke"}\n');
    stdout.write('{"id":9,"x":NaN}\n{"jsonrpc":"2.0","id":9,"method":"m","params":NaN}\n');
    await waitUntil(() => noise === 3);
    expect(messages).toEqual([
      { jsonrpc: '2.0', id: 7, error: { code: -32_700, message: expect.stringContaining('not valid JSON') as string } },
      { jsonrpc: '2.0', id: 8, error: 'it broke' },
    ]);
  });

  it('EXEC-4 S22 an answer that is not of JSON-RPC 2.0 is the failure of its request at once', async () => {
    let noise = 0;
    const { stdout, messages } = await open({ onNoise: () => (noise += 1) });
    const lines = [
      '{"id":1,"result":{}}',
      '{"jsonrpc":"1.0","id":"b","result":{}}',
      '{"jsonrpc":"2.0","id":3}',
      '{"id":4,"level":"info"}',
      '{"jsonrpc":"2.0","id":null,"result":{}}',
      '{"id":5,"method":"m","result":{}}',
    ];
    stdout.write(`${lines.join('\n')}\n`);
    await waitUntil(() => noise === lines.length);
    const error = { code: -32_600, message: 'its answer is not a JSON-RPC 2.0 message' };
    expect(messages).toEqual([1, 'b', 3].map((id) => ({ jsonrpc: '2.0', id, error })));
  });

  it('S22 stderr is handed on and never read as protocol', async () => {
    let seen = '';
    const { stderr, messages } = await open({ onStderr: (chunk) => (seen += chunk) });
    stderr.write('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    await waitUntil(() => seen !== '');
    expect(messages).toEqual([]);
  });

  it('CONN-1 takes a batch apart', async () => {
    const { stdout, messages } = await open();
    stdout.write('[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]\n');
    await waitUntil(() => messages.length === 2);
  });

  it('A28 a message nested ten thousand levels deep does no harm', async () => {
    const { stdout, messages } = await open();
    const deep = `${'['.repeat(10_000)}${']'.repeat(10_000)}`;
    stdout.write(`{"jsonrpc":"2.0","id":1,"result":{"deep":${deep}}}\n{"jsonrpc":"2.0","method":"n"}\n`);
    await waitUntil(() => messages.length === 2);
  });

  it.each([
    ['values', `[${'[],'.repeat(600_000)}[]]`],
    ['levels', '['.repeat(300_000)],
  ])('A28 A44 a server that sends a line with too many %s is disconnected with the reason', async (what, line) => {
    const { stdout, transport, messages, kills, closes } = await open();
    stdout.write(`${line}\n{"jsonrpc":"2.0","method":"n"}\n`);
    await waitUntil(() => closes() === 1);
    expect(transport.lost?.message).toMatch(new RegExp(`sent a line that .* ${what} and was disconnected`));
    expect(kills()).toBe(1);
    expect(messages).toEqual([]);
  });

  it('S22 a receiver that throws does not end the reading', async () => {
    const { stdout, transport } = await open();
    const errors: Error[] = [];
    let seen = 0;
    Object.assign(transport, {
      onerror: (error: Error) => errors.push(error),
      onmessage: () => {
        seen += 1;
        throw new Error('no');
      },
    });
    stdout.write('{"jsonrpc":"2.0","method":"a"}\n{"jsonrpc":"2.0","method":"b"}\n');
    await waitUntil(() => seen === 2);
    expect(errors).toHaveLength(2);
  });

  it('A28 a line without end closes the connection with a reason', async () => {
    const { stdout, transport, closes, stops } = await open();
    const chunk = Buffer.alloc(1024 * 1024, 'x');
    for (let written = 0; written < 40 && !transport.closed; written++) {
      if (!stdout.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    }
    await waitUntil(() => transport.closed);
    expect(transport.lost?.message).toContain('32 MiB');
    expect([closes(), stops()]).toEqual([1, 1]);
  });

  it('A44 reads nothing more of a child that it cut off', async () => {
    const { stdout, transport, messages, kills } = await open();
    stdout.write(Buffer.from(`${'\n'.repeat(200_000)}{"jsonrpc":"2.0","id":1,"result":{}}\n`));
    await waitUntil(() => transport.closed);
    expect(transport.lost?.message).toContain('unsolicited messages');
    expect([messages.length, kills()]).toEqual([0, 1]);
  });

  it('A44 answers, however many, are not counted', async () => {
    const { stdout, transport, messages } = await open();
    for (let id = 0; id < 30_000; id++) stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{}}\n`);
    await waitUntil(() => messages.length === 30_000);
    expect(transport.closed).toBe(false);
  });

  it('A44 what waits for a child that does not read is bounded in bytes', async () => {
    const { stdin, transport } = await open();
    stdin.cork();
    const large = { ...message, params: { text: 'x'.repeat(1024 * 1024) } };
    const sent: Array<Promise<unknown>> = [];
    while (!transport.closed && sent.length < 100) sent.push(transport.send(large).catch((thrown: unknown) => thrown));
    expect(sent.length).toBeLessThan(20);
    expect(transport.lost).toMatchObject({
      message: expect.stringContaining('does not read its requests') as string,
      suggestion: expect.stringMatching(/^Send smaller arguments or fewer calls at once;/) as string,
    });
  });

  it('A44 a child that goes on writing after the request to end is not read for long', async () => {
    const { stdout, transport } = await open();
    const closed = transport.close();
    const chunk = Buffer.alloc(256 * 1024, 'x');
    for (let written = 0; written < 40 && !stdout.destroyed; written++) {
      if (!stdout.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    }
    await waitUntil(() => stdout.destroyed);
    await closed;
  });

  it('EXEC-4 says how the child ended and what it said last', async () => {
    const { stdout, stderr, leave, transport, closes } = await open({ mask: (text) => text.replace('hunter2', '***') });
    stderr.write('starting\nno access for hunter2\u001b[0m\n\n');
    stderr.end();
    stdout.end();
    leave({ code: 3, signal: null });
    await waitUntil(() => transport.closed);
    expect(transport.lost?.message).toBe('The server "s" exited with code 3: no access for ***\\u001b[0m');
    expect(closes()).toBe(1);
  });

  it('EXEC-4 does not wait for pipes that another process holds open', async () => {
    const { leave, transport, clock } = await open();
    leave({ code: null, signal: 'SIGKILL' });
    await clock.advance(99);
    expect(transport.closed).toBe(false);
    await clock.advance(1);
    expect(transport.lost?.message).toBe('The server "s" was ended by SIGKILL');
  });

  it('EXEC-4 the end of stdout is the end, even while the child runs', async () => {
    const { stdout, transport, clock } = await open();
    stdout.end();
    await waitUntil(() => clock.waiting === 1);
    await clock.advance(100);
    expect(transport.lost?.message).toBe('The server "s" closed its connection');
  });

  it('EXEC-4 an answer written before the end still arrives', async () => {
    const { stdout, stderr, leave, messages, transport } = await open();
    stdout.write('{"jsonrpc":"2.0","id":1,"result":{}}\n');
    leave({ code: 0, signal: null });
    stdout.end();
    stderr.end();
    await waitUntil(() => transport.closed);
    expect(messages).toHaveLength(1);
  });

  it('EXEC-4 an answer without a line end before the end still arrives, what was cut off does not', async () => {
    for (const [last, count] of [
      ['{"jsonrpc":"2.0","id":1,"result":{}}', 1],
      ['{"jsonrpc":"2.0","id":1,"result":{"a', 0],
    ] as const) {
      const { stdout, stderr, leave, messages, transport } = await open();
      stdout.write(last);
      leave({ code: 3, signal: null });
      stdout.end();
      stderr.end();
      await waitUntil(() => transport.closed);
      expect(messages).toHaveLength(count);
      expect(transport.lost?.message).toBe('The server "s" exited with code 3');
    }
  });

  it('CONN-1 sends whole lines, in order and at once', async () => {
    const { stdin, transport } = await open();
    const chunks: string[] = [];
    stdin.on('data', (chunk: Buffer) => chunks.push(chunk.toString()));
    await Promise.all([transport.send(message), transport.send({ ...message, id: 2 })]);
    expect(chunks.join('')).toBe(`${JSON.stringify(message)}\n${JSON.stringify({ ...message, id: 2 })}\n`);
  });

  it('CONN-7 what cannot be written is known not to have been delivered', async () => {
    const { stdin, transport, clock } = await open();
    stdin.destroy();
    const sent = transport.send(message).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await clock.advance(100);
    const failure = await sent;
    expect(failure).toBeInstanceOf(ToolscoutError);
    expect(failure).toMatchObject({ code: 'SERVER_CONNECTION_ERROR', delivered: false });
    await expect(transport.send(message)).rejects.toMatchObject({ delivered: false });
  });

  it('CONN-7 a request that waited behind another in a failed write is not claimed to be undelivered', async () => {
    const { stdin, transport, clock } = await open();
    stdin.cork();
    const first = transport.send(message);
    await new Promise(setImmediate);
    const sent = Promise.allSettled([first, transport.send(message)]);
    await new Promise(setImmediate);
    stdin.destroy();
    await clock.advance(100);
    const [alone, behind] = await sent;
    expect(alone).toMatchObject({ status: 'rejected', reason: { code: 'SERVER_CONNECTION_ERROR', delivered: false } });
    expect(behind).toMatchObject({ status: 'rejected', reason: { delivered: undefined } });
  });

  it('CONN-4 closing stops the child and refuses what comes after', async () => {
    const { transport, stops, closes } = await open();
    await transport.close();
    await expect(transport.send(message)).rejects.toMatchObject({ delivered: false });
    expect(transport.lost).toBeUndefined();
    expect([stops() > 0, closes()]).toEqual([true, 1]);
  });

  it('CONN-1 starting twice is starting once', async () => {
    const { transport, stdout, messages } = await open();
    await transport.start();
    stdout.write('{"jsonrpc":"2.0","method":"n"}\n');
    await waitUntil(() => messages.length > 0);
    expect(messages).toHaveLength(1);
  });
});
