import { describe, expect, it } from 'vitest';
import { fixture } from '../../../test/support/fixture.js';
import { openHttpApp, type TestApp } from '../../../test/support/http-app.js';
import { openToolscout } from '../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../test/support/patience.js';
import type { Gateway } from '../../gateway/index.js';

const ONE = 'first-key-0123456789';
const TWO = 'second-key-0123456789';
const keys = [
  { name: 'one', key: '${ONE}' },
  { name: 'two', key: '${TWO}' },
];

interface Told {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

/** Reads the events of a stream one after the other. */
async function* eventsOf(response: Response): AsyncGenerator<Told, undefined> {
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      const [event, data] = text.slice(0, end).split('\n');
      text = text.slice(end + 2);
      if (event?.startsWith('event: ')) {
        yield { event: event.slice(7), data: JSON.parse(data!.slice(6)) as Record<string, unknown> };
      }
    }
  }
  return undefined;
}

const next = async (events: AsyncGenerator<Told, undefined>, wanted: string): Promise<Record<string, unknown>> => {
  for (;;) {
    const step = await events.next();
    if (step.done) throw new Error(`The stream ended without "${wanted}".`);
    if (step.value.event === wanted) return step.value.data;
  }
};

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` });

async function openAsking(...flags: string[]): Promise<TestApp & { readonly gateway: Gateway }> {
  const servers = { asking: fixture('asking', ...flags) };
  const env = { PATH: process.env['PATH'], ONE, TWO };
  const gateway = await openToolscout({ servers, http: { auth: { keys } } }, { env });
  return { ...(await openHttpApp(gateway)), gateway };
}

const ARGUMENTS: Record<string, object> = { elicit: { message: 'Who?' }, sample: { prompt: 'Say hi.' } };

const call = (http: TestApp, tool: string, more: object = {}): Promise<Response> =>
  http.post(
    '/v1/call',
    { server: 'asking', tool, arguments: ARGUMENTS[tool] ?? {}, ask: true, ...more },
    { ...bearer(ONE), accept: 'text/event-stream' },
  );

describe('calls that ask back', STARTS_PROCESSES, () => {
  it.each([[], ['--modern']])(
    'STUDIO-1 a server of either era asks whoever follows the call, and goes on with the answer (%s)',
    async (...flags) => {
      const http = await openAsking(...flags);
      const events = eventsOf(await call(http, 'elicit'));
      const ask = await next(events, 'ask');
      expect(ask).toMatchObject({
        kind: 'elicitation',
        method: 'elicitation/create',
        params: { message: expect.any(String) as string },
        server: 'asking',
        tool: 'elicit',
      });
      const listed = async (key: string): Promise<unknown> =>
        (await http.send('/v1/asks', { headers: bearer(key) })).json();
      expect(await listed(ONE)).toEqual({ asks: [ask] });
      expect(await listed(TWO)).toEqual({ asks: [] });
      const answer = { answer: { action: 'accept', content: { name: 'Ada' } } };
      // Nobody else answers it, and nobody else learns that it is there.
      expect((await http.post(`/v1/asks/${String(ask['id'])}`, answer, bearer(TWO))).status).toBe(404);
      expect((await http.post('/v1/asks/nothing', answer, bearer(ONE))).status).toBe(404);
      expect((await http.post(`/v1/asks/${String(ask['id'])}`, answer, bearer(ONE))).status).toBe(204);
      const result = await next(events, 'result');
      expect(result).toMatchObject({ success: true, tokens: { arguments: expect.any(Number) as number } });
      expect(JSON.stringify(result)).toContain('Ada');
      expect((await http.post(`/v1/asks/${String(ask['id'])}`, answer, bearer(ONE))).status).toBe(404);
      // The record tells the time of the question apart, and so does the latency of the server.
      const [record] = await http.gateway.audit.list({ kind: 'execution' });
      expect(record!.askedMs).toBeGreaterThan(0);
      expect(record!.askedMs).toBeLessThan(record!.latencyMs!);
      const { latency } = await http.gateway.studio.server('asking');
      expect(latency.find(({ by }) => by === 'call')!.ms).toBeCloseTo(record!.latencyMs! - record!.askedMs!, 6);
    },
  );

  it('STUDIO-1 sampling and roots are asked as well, and a refusal reaches the server as one', async () => {
    const http = await openAsking();
    const sampling = eventsOf(await call(http, 'sample'));
    const ask = await next(sampling, 'ask');
    expect(ask).toMatchObject({ kind: 'sampling' });
    expect((await http.post(`/v1/asks/${String(ask['id'])}`, { refusal: 'Not now.' }, bearer(ONE))).status).toBe(204);
    expect(JSON.stringify(await next(sampling, 'result'))).toContain('Not now.');
    const roots = eventsOf(await call(http, 'roots'));
    const wanted = await next(roots, 'ask');
    expect(wanted).toMatchObject({ kind: 'roots' });
    const found = { answer: { roots: [{ uri: 'file:///home/ada' }] } };
    expect((await http.post(`/v1/asks/${String(wanted['id'])}`, found, bearer(ONE))).status).toBe(204);
    expect(JSON.stringify(await next(roots, 'result'))).toContain('file:///home/ada');
  });

  it('STUDIO-1 SEC-11 a confirmation says that toolscout asks, and which rule', async () => {
    const gateway = await openToolscout(
      {
        servers: { asking: fixture('asking') },
        toolRules: [{ pattern: 'elicit', confirm: true }],
        http: { auth: { keys } },
      },
      { env: { PATH: process.env['PATH'], ONE, TWO } },
    );
    const app = await openHttpApp(gateway);
    const follower = eventsOf(await app.send('/v1/events', { headers: bearer(ONE) }));
    await next(follower, 'hello');
    const events = eventsOf(await call(app, 'elicit'));
    const ask = await next(events, 'ask');
    expect(ask).toMatchObject({
      kind: 'elicitation',
      confirms: { rule: 'rule 1 (pattern "elicit")', scope: 'call', arguments: { message: 'Who?' } },
    });
    expect(await next(follower, 'asks')).toEqual({ type: 'asks' });
    await follower.return(undefined);
    expect((ask['params'] as { message: string }).message).toContain(
      'toolscout asks: Allow this one call?\nRule 1 (pattern "elicit") in the config of toolscout asks for this.',
    );
    const no = { answer: { action: 'decline' } };
    expect((await app.post(`/v1/asks/${String(ask['id'])}`, no, bearer(ONE))).status).toBe(204);
    expect(await next(events, 'result')).toMatchObject({ error: { code: 'CONFIRMATION_REJECTED' } });
  });

  it('STUDIO-1 EXEC-5 time without an answer is told as such, also where the server gives up its question', async () => {
    const http = await openAsking();
    const events = eventsOf(await call(http, 'withdraw'));
    const { id } = await next(events, 'ask');
    expect(await next(events, 'withdrawn')).toEqual({ id });
    expect(await next(events, 'result')).toMatchObject({ success: true });
    const [record] = await http.gateway.audit.list({ kind: 'execution' });
    // The server waits 300 ms before it withdraws its question.
    expect(record!.askedMs).toBeGreaterThan(250);
  });

  it('STUDIO-1 who closes the stream cancels the call; who does not want to be asked is not', async () => {
    const http = await openAsking();
    const response = await call(http, 'elicit');
    const events = eventsOf(response);
    const ask = await next(events, 'ask');
    await events.return(undefined);
    await expect
      .poll(async () => (await http.post(`/v1/asks/${String(ask['id'])}`, { answer: {} }, bearer(ONE))).status)
      .toBe(404);
    const unasked = eventsOf(await call(http, 'elicit', { ask: false }));
    expect(await next(unasked, 'result')).toMatchObject({ tokens: expect.any(Object) as object });
  });
});
