import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttp, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { createServer as createTls } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.js';
import type { AuditRecord } from '../../model/audit-record.js';
import { formatRecord } from '../export/formats.js';
import { createSyslog, sendEach } from './syslog.js';
import { createWebhook, signDelivery } from './webhook.js';

const record = (id: string): AuditRecord => ({
  id,
  time: 1_700_000_000_000,
  kind: 'execution',
  principal: 'ada ü',
  outcome: 'success',
});
const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
const open: Array<{ close(): unknown }> = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

describe('a webhook', () => {
  const listen = async (answer: (request: IncomingMessage, body: string) => number): Promise<string> => {
    const server = createHttp(async (request, response) => {
      response.statusCode = answer(request, await text(request));
      if (response.statusCode === 302) response.setHeader('location', 'http://127.0.0.1:9/');
      response.end('ok');
    }).listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    return `http://127.0.0.1:${portOf(server)}/audit`;
  };
  const options = { secret: 'secret of the test', format: 'jsonl', fetch, clock: systemClock } as const;

  it('SEC-12 gets records as lines, signed over time and body', async () => {
    const seen: Array<{ headers: IncomingMessage['headers']; body: string }> = [];
    const url = await listen(({ headers }, body) => (seen.push({ headers, body }), 204));
    await createWebhook({ ...options, url }).send([record('a'), record('b')], 'siem-0-2');
    const [{ headers, body } = { headers: {}, body: '' }] = seen;
    expect(
      body
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as AuditRecord).id),
    ).toEqual(['a', 'b']);
    const signature = String(headers['toolscout-signature']);
    const time = Number(/^t=(\d+),/.exec(signature)?.[1]);
    expect(signature).toBe(signDelivery(options.secret, time, body));
    expect(signature).not.toBe(signDelivery(options.secret, time, `${body} `));
    expect(headers).toMatchObject({ 'toolscout-delivery': 'siem-0-2', 'content-type': 'application/x-ndjson' });
    await createWebhook({ ...options, url, format: 'cef' }).send([record('a')], 'd');
    expect(seen[1]).toMatchObject({ headers: { 'content-type': 'text/plain; charset=utf-8' }, body: /^CEF/ });
  });

  it.each([400, 413, 429, 503])('SEC-12 that answers %i refuses with that status', async (status) => {
    const url = await listen(() => status);
    await expect(createWebhook({ ...options, url }).send([record('a')], 'd')).rejects.toMatchObject({
      refusal: { status },
    });
  });

  it.each([500, 404, 302])('SEC-12 that answers %i has taken nothing', async (status) => {
    const url = await listen(() => status);
    await expect(createWebhook({ ...options, url }).send([record('a')], 'd')).rejects.toThrow();
  });

  it('SEC-12 that does not answer in time has taken nothing', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    const clock = { ...systemClock, after: (_ms: number, act: () => void) => systemClock.after(1, act) };
    const hook = createWebhook({ ...options, clock, url: `http://127.0.0.1:${portOf(server)}/` });
    await expect(hook.send([record('a')], 'd')).rejects.toThrow('no answer in time');
  });
});

describe('a syslog server', () => {
  const listen = async (onSocket: (socket: Socket) => void, allowHalfOpen = false): Promise<Server> => {
    const server = createServer({ allowHalfOpen }, onSocket).listen(0, '127.0.0.1');
    open.push(server);
    await once(server, 'listening');
    return server;
  };
  const syslog = (url: string) => createSyslog({ url, format: 'cef', hostname: 'host', clock: systemClock });

  /** The messages in a stream that is framed by length. */
  const unframe = (bytes: Buffer): string[] => {
    const messages: string[] = [];
    for (let at = 0; at < bytes.length;) {
      const space = bytes.indexOf(' ', at);
      const length = Number(bytes.subarray(at, space));
      messages.push(bytes.subarray(space + 1, space + 1 + length).toString());
      at = space + 1 + length;
    }
    return messages;
  };

  it('SEC-12 gets every message over TCP, framed by its length in bytes', async () => {
    const chunks: Buffer[] = [];
    const server = await listen((socket) => void socket.on('data', (chunk: Buffer) => chunks.push(chunk)));
    await syslog(`tcp://127.0.0.1:${portOf(server)}`).send([record('a'), record('b')], 'd');
    const messages = unframe(Buffer.concat(chunks));
    expect(messages).toHaveLength(2);
    expect(messages[1]).toMatch(
      /^<110>1 2023-11-14T22:13:20\.000Z host toolscout - execution - \uFEFFCEF:0.*suser=ada ü/,
    );
  });

  it('SEC-12 that resets the connection, or is not there, has taken nothing', async () => {
    const server = await listen((socket) => socket.resetAndDestroy());
    const records = Array.from({ length: 200 }, (_, i) => ({ ...record(`r${i}`), detail: 'x' }));
    await expect(syslog(`tcp://127.0.0.1:${portOf(server)}`).send(records, 'd')).rejects.toThrow();
    const gone = portOf(server);
    server.close();
    await expect(syslog(`tcp://127.0.0.1:${gone}`).send(records, 'd')).rejects.toThrow();
  });

  it('SEC-12 that never ends its side does not hold up the next delivery', async () => {
    const server = await listen((socket) => void socket.resume(), true);
    const clock = {
      ...systemClock,
      after: (ms: number, act: () => void) => systemClock.after(Math.min(ms, 3001) / 30, act),
    };
    const url = `tcp://127.0.0.1:${portOf(server)}`;
    await createSyslog({ url, format: 'jsonl', hostname: 'host', clock }).send([record('a')], 'd');
  });

  it('SEC-12 gets nothing over TLS when the certificate is not trusted', async () => {
    const server = await listen((socket) => socket.end('no TLS here'));
    await expect(syslog(`tls://127.0.0.1:${portOf(server)}`).send([record('a')], 'd')).rejects.toThrow();
  });

  it('SEC-12 gets every message over TLS, when the certificate is trusted', async () => {
    const file = (name: string): URL => new URL(`../../../test/fixtures/tls/localhost-${name}.pem`, import.meta.url);
    const cert = readFileSync(file('cert'), 'utf8');
    const chunks: Buffer[] = [];
    const server = createTls({ key: readFileSync(file('key')), cert }, (socket) => {
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    }).listen(0, 'localhost');
    open.push(server);
    await once(server, 'listening');
    const url = `tls://localhost:${portOf(server)}`;
    await createSyslog({ url, format: 'ocsf', hostname: 'host', clock: systemClock, ca: cert }).send(
      [record('a')],
      'd',
    );
    expect(unframe(Buffer.concat(chunks))).toEqual([expect.stringContaining('"class_uid":6003')]);
    await expect(syslog(url).send([record('a')], 'd')).rejects.toThrow(/certificate/);
  });

  const large = (id: string, length: number): AuditRecord => ({
    ...record(id),
    tool: 'ü'.repeat(300),
    arguments: { text: '\u{1f600}'.repeat(length / 4) },
    argumentsHash: 'ff',
  });

  it.each(['jsonl', 'cef', 'ocsf'] as const)(
    'SEC-12 gets a record that is too long without its arguments, whole in the format %s, over UDP and TCP',
    async (format) => {
      const socket = createSocket('udp4');
      open.push(socket);
      socket.bind(0, '127.0.0.1');
      await once(socket, 'listening');
      const datagrams: string[] = [];
      socket.on('message', (message) => datagrams.push(message.toString()));
      const chunks: Buffer[] = [];
      const server = await listen((connection) => void connection.on('data', (chunk: Buffer) => chunks.push(chunk)));
      const records = [record('a'), large('b', 100_000), large('c', 10_000)];
      for (const url of [`udp://127.0.0.1:${portOf(socket)}`, `tcp://127.0.0.1:${portOf(server)}`])
        await createSyslog({ url, format, hostname: 'host', clock: systemClock }).send(records, 'd');
      await expect.poll(() => datagrams.length).toBe(3);
      const framed = unframe(Buffer.concat(chunks));
      expect(framed).toEqual(datagrams);
      const [, shortened = '', whole = ''] = framed.map((message) => message.slice(message.indexOf('\uFEFF') + 1));
      expect(whole).toBe(formatRecord(records[2]!, format));
      expect(shortened.length).toBeLessThan(5000);
      expect(shortened).toContain('ff');
      expect(shortened).not.toMatch(/\ufffd|\u{1f600}/u);
      if (format !== 'cef') expect(JSON.stringify(JSON.parse(shortened))).toContain('"shortened":true');
    },
  );

  it('SEC-12 sends a record shortened when the system takes no datagram of its length, and refuses it when that is too long too', async () => {
    const sent: number[] = [];
    const sendUpTo =
      (most: number) =>
      async (message: Buffer): Promise<void> => {
        if (message.length > most) throw Object.assign(new Error('send EMSGSIZE'), { code: 'EMSGSIZE' });
        sent.push(message.length);
      };
    const encode = (each: AuditRecord): Buffer => Buffer.from(JSON.stringify(each));
    await sendEach([record('a'), large('b', 20_000)], encode, sendUpTo(9216));
    expect(sent).toHaveLength(2);
    await expect(sendEach([large('b', 20_000)], encode, sendUpTo(100))).rejects.toMatchObject({
      refusal: { status: 413 },
    });
    const down = async (): Promise<void> => {
      throw Object.assign(new Error('send ENETUNREACH'), { code: 'ENETUNREACH' });
    };
    await expect(sendEach([record('a')], encode, down)).rejects.not.toHaveProperty('refusal');
  });

  it('SEC-12 gets one datagram a message over UDP', async () => {
    const socket = createSocket('udp4');
    open.push(socket);
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const messages: string[] = [];
    socket.on('message', (message) => messages.push(message.toString()));
    await syslog(`udp://127.0.0.1:${portOf(socket)}`).send([record('a'), record('b')], 'd');
    await expect.poll(() => messages.length).toBe(2);
    expect(messages[0]).toMatch(/^<110>1 /);
  });
});
