import { request as requestHttp } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { fixture, waitUntil } from '../../../test/support/fixture.js';
import { openHttpApp } from '../../../test/support/http-app.js';
import { callMark, openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import { wrapGateway, type Gateway } from '../../gateway/index.js';
import { systemClock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { createEventStream } from './event-stream.js';
import { listen } from './listen/listen.js';

const EVENTS = { accept: 'text/event-stream' };

async function readUntil(body: ReadableStream<Uint8Array>, wanted: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.includes(wanted)) break;
  }
  return text;
}

describe('a call with progress', STARTS_PROCESSES, () => {
  it('EXEC-1 gives progress first and the result last', async () => {
    const gateway = await openToolscout({ servers: { slow: fixture('slow') } });
    const http = await openHttpApp(gateway);
    const response = await http.post(
      '/v1/call',
      { server: 'slow', tool: 'wait', arguments: { ms: 40, steps: 3 } },
      EVENTS,
    );
    const text = await response.text();
    const names = [...text.matchAll(/^event: (\w+)$/gm)].map((match) => match[1]);
    expect(names.at(-1)).toBe('result');
    expect(names.slice(0, -1).every((name) => name === 'progress')).toBe(true);
    expect(names).toHaveLength(4);
    expect(text).toMatch(/"success":true/);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('EXEC-1 a refusal is a result with its reason', async () => {
    const http = await openHttpApp(await openToolscout({}));
    const text = await (await http.post('/v1/call', { server: 'nowhere', tool: 'x' }, EVENTS)).text();
    expect(text).toContain('"code":"SERVER_NOT_FOUND"');
  });

  it.each([
    ['as events', EVENTS],
    ['as JSON', {}],
  ])('S4 a client that goes away cancels its call, %s', async (_how, headers) => {
    const mark = await callMark();
    const gateway = await openToolscout({ servers: { slow: fixture('slow', mark.flag) } });
    await gateway.servers.discover();
    const http = await openHttpApp(gateway);
    const front = await listen(http.app, { host: '127.0.0.1', port: 0 });
    onTestFinished(() => front.close());
    const body = JSON.stringify({ server: 'slow', tool: 'wait', arguments: { ms: 60_000 } });
    const call = requestHttp(`${front.url}/v1/call`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    });
    call.on('error', () => undefined);
    call.end(body);
    await mark.called();
    call.destroy();
    await waitUntil(async () =>
      (await gateway.audit.list({ kind: 'execution' })).some(({ code }) => code === 'CANCELLED'),
    );
  });
});

describe('GET /v1/audit as a stream', STARTS_PROCESSES, () => {
  const call = async (gateway: Gateway, message: string): Promise<unknown> => gateway.call('old', 'echo', { message });
  const recordsIn = (text: string): string[] =>
    [...text.matchAll(/^event: record\ndata: (.*)$/gm)].map(([, data]) => {
      const { arguments: args, kind } = JSON.parse(data!) as { kind: string; arguments?: { message: string } };
      return args?.message ?? kind;
    });

  it('EXEC-5 tells of each record as it is kept, in order, of this filter only', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    await call(gateway, 'before');
    const { send } = await openHttpApp(gateway);
    const answer = await send('/v1/audit?kind=execution', { headers: EVENTS });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const reading = readUntil(answer.body!, '"two"');
    await call(gateway, 'one');
    await gateway.tools.clearCache();
    await call(gateway, 'two');
    const text = await reading;
    expect(text).toMatch(/^event: hello\n/);
    expect(recordsIn(text)).toEqual(['one', 'two']);
  });

  it('EXEC-5 begins with what was there where a limit or a time asks for it, and misses and repeats nothing', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    for (const message of ['a', 'b', 'c']) await call(gateway, message);
    // A record that comes while the past is read is in both; one that comes right after is in the stream alone.
    const audit: Gateway['audit']['list'] = async (filter) => {
      await call(gateway, 'during');
      const records = await gateway.audit.list(filter);
      await call(gateway, 'after');
      return records;
    };
    const { send } = await openHttpApp(wrapGateway(gateway, () => ({ 'audit.list': audit })));
    const answer = await send('/v1/audit?kind=execution&limit=3', { headers: EVENTS });
    const reading = readUntil(answer.body!, '"last"');
    await call(gateway, 'last');
    expect(recordsIn(await reading)).toEqual(['b', 'c', 'during', 'after', 'last']);
    const since = await send('/v1/audit?kind=execution&since=0', { headers: EVENTS });
    expect(recordsIn(await readUntil(since.body!, '"last"'))).toEqual(['a', 'b', 'c', 'during', 'after', 'last']);
  });

  it('EXEC-5 R7 a past that cannot be read is a problem and no stream, and nothing stays open', async () => {
    const gateway = await openToolscout({});
    let following = 0;
    const followAudit: Gateway['audit']['follow'] = () => {
      following += 1;
      return () => (following -= 1);
    };
    const audit = (): never => {
      throw new ToolscoutError('STORE_ERROR', 'No.');
    };
    const { send } = await openHttpApp(
      wrapGateway(gateway, () => ({ 'audit.list': audit, 'audit.follow': followAudit })),
    );
    for (let turn = 0; turn < 150; turn++) {
      expect((await send('/v1/audit?limit=1', { headers: EVENTS })).status).toBe(500);
      expect((await send('/v1/audit', { method: 'HEAD', headers: EVENTS })).status).toBe(200);
    }
    const { body } = await send('/v1/audit', { headers: EVENTS });
    expect(following).toBe(1);
    await body!.cancel();
    expect(following).toBe(0);
  });
});

describe('GET /v1/events', STARTS_PROCESSES, () => {
  it('REG-1 tells what happens as it happens, and lets go of who has gone', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const http = await openHttpApp(gateway);
    const { body } = await http.send('/v1/events');
    const reading = readUntil(body!, 'event: learned');
    await gateway.servers.discover();
    const text = await reading;
    expect(text).toContain('event: hello');
    expect(text).toMatch(/event: learned\ndata: \{"type":"learned","server":"old"/);
  });

  it('STUDIO-1 tells that tools were called, by any caller', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const http = await openHttpApp(gateway);
    const { body } = await http.send('/v1/events');
    const reading = readUntil(body!, 'event: calls');
    await gateway.call('old', 'echo', { message: 'from elsewhere' });
    expect(await reading).toMatch(/event: calls\ndata: \{"type":"calls","servers":\["old"\]\}/);
  });

  it('R7 asking only for the head of it leaves nothing open', async () => {
    const http = await openHttpApp(await openToolscout({}));
    for (let turn = 0; turn < 150; turn++) {
      expect((await http.send('/v1/events', { method: 'HEAD' })).status).toBe(200);
    }
    const { status, body } = await http.send('/v1/events');
    await body?.cancel();
    expect(status).toBe(200);
  });

  it('R7 a heartbeat keeps it open, a slow client loses the oldest and is told how many, and memory is bounded', async () => {
    const clock = createFakeClock();
    let closed = 0;
    const stream = createEventStream({ clock, signal: new AbortController().signal, onClose: () => (closed += 1) });
    const reader = stream.body.getReader();
    const next = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
    const beating = next();
    await clock.advance(15_000);
    expect(await beating).toBe(': alive\n\n');
    for (let index = 0; index < 700; index++) stream.send('n', index);
    expect(await next()).toBe('event: dropped\ndata: {"count":200}\n\nevent: n\ndata: 200\n\n');
    for (let index = 0; index < 40; index++) stream.send('large', 'x'.repeat(1024 * 1024));
    expect(await next()).toMatch(/^event: dropped/);
    await reader.cancel();
    expect(closed).toBe(1);
    stream.send('n', 1);
    expect(clock.waiting).toBe(0);
  });

  it('A34 nothing in an event can become another event', async () => {
    const controller = new AbortController();
    const stream = createEventStream({ clock: systemClock, signal: controller.signal, onClose: () => undefined });
    stream.send('n', 'a\n\nevent: evil\r\ndata: x\u2028y');
    stream.end();
    const text = await new Response(stream.body).text();
    expect(text.match(/^event:/gm)).toEqual(['event:']);
  });

  it('R7 ends with the connection of its client', async () => {
    const controller = new AbortController();
    let closed = 0;
    const stream = createEventStream({ clock: systemClock, signal: controller.signal, onClose: () => (closed += 1) });
    const ended = new Response(stream.body).text();
    controller.abort();
    expect(await ended).toBe('');
    expect(closed).toBe(1);
  });
});
