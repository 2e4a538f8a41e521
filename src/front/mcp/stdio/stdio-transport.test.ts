import { PassThrough, Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createHostTransport } from './stdio-transport.js';

function setUp() {
  const writes: string[] = [];
  const output = new Writable({
    decodeStrings: false,
    write(chunk: string, _encoding, done) {
      writes.push(chunk);
      done();
    },
  });
  return { writes, output, transport: createHostTransport({ input: new PassThrough(), output }) };
}

const answer = (id: number) => ({ jsonrpc: '2.0' as const, id, result: {} });
const progress = {
  jsonrpc: '2.0' as const,
  method: 'notifications/progress',
  params: { progressToken: 1, progress: 1 },
};

describe('createHostTransport', () => {
  it('META-6 answers of one turn leave together, but never together with a notification before them', async () => {
    const { transport, writes } = setUp();
    await Promise.all([transport.send(progress), transport.send(answer(1)), transport.send(answer(2))]);
    expect(writes.map((text) => text.trim().split('\n').length)).toEqual([1, 2]);
    expect(writes[0]).toContain('notifications/progress');
  });

  it('A28 A44 a line with too many values is a parse error, and the session goes on', async () => {
    const input = new PassThrough();
    const { output, writes } = setUp();
    const transport = createHostTransport({ input, output });
    const errors: string[] = [];
    const heard = new Promise<unknown>((resolve) => {
      transport.onmessage = resolve;
    });
    transport.onerror = (error) => errors.push(error.message);
    await transport.start();
    input.write(`[${'[],'.repeat(600_000)}[]]\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n`);
    expect(await heard).toMatchObject({ method: 'ping' });
    await transport.send(answer(1));
    expect(errors).toEqual(['The host sent a line that has more than 1000000 values.']);
    expect(JSON.parse(writes.join('').split('\n')[0]!)).toMatchObject({ id: null, error: { code: -32_700 } });
  });

  it('A26 a host that nests what it says of itself too deeply is told so, and the session goes on', async () => {
    const input = new PassThrough();
    const { output, writes } = setUp();
    const transport = createHostTransport({ input, output });
    const errors: string[] = [];
    const heard = new Promise<unknown>((resolve) => {
      transport.onmessage = resolve;
    });
    transport.onerror = (error) => errors.push(error.message);
    await transport.start();
    const deep = `${'{"a":'.repeat(20_000)}{}${'}'.repeat(20_000)}`;
    input.write(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":${deep}}}\n`);
    input.write('{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    expect(await heard).toMatchObject({ method: 'ping' });
    await transport.send(answer(2));
    expect(errors).toEqual([expect.stringContaining('params.capabilities nests deeper than 64 levels')]);
    expect(JSON.parse(writes.join('').split('\n')[0]!)).toMatchObject({ id: null, error: { code: -32_700 } });
  });

  it('A28 a batch of many values that are no messages is reported once', async () => {
    const input = new PassThrough();
    const transport = createHostTransport({ input, output: setUp().output });
    const errors: string[] = [];
    const heard = new Promise<unknown>((resolve) => {
      transport.onmessage = resolve;
    });
    transport.onerror = (error) => errors.push(error.message);
    await transport.start();
    input.write(`[${'[],'.repeat(1000)}[]]\n{"jsonrpc":"2.0","id":1,"method":"ping"}\n`);
    await heard;
    expect(errors).toEqual(['The host sent JSON that is not a JSON-RPC 2.0 message.']);
  });

  it('META-1 an answer given just before the end is still written, and nothing after it', async () => {
    const { transport, writes } = setUp();
    void transport.send(answer(1));
    await transport.close();
    await transport.send(answer(2));
    expect(writes.join('')).toBe(`${JSON.stringify(answer(1))}\n`);
  });

  it('META-1 a host that no longer reads ends the connection without an error', async () => {
    const { transport, output } = setUp();
    await transport.start();
    const closed = new Promise<void>((resolve) => {
      transport.onclose = resolve;
    });
    output.destroy(new Error('EPIPE'));
    await transport.send(answer(1));
    await closed;
  });
});
