import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../kernel/clock.js';
import { systemClock } from '../kernel/clock.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import { createSandboxFactory, type SandboxFactory } from './sandbox.js';
import type { SandboxBounds, VmImage, WorkerMessage, WorkerRequest } from './worker-messages.js';
import { serveSandboxes } from './worker-service.js';

// The sandbox of the worker, here in the thread of the test.
const ENGINE = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));
const BOUNDS: SandboxBounds = { memoryBytes: 16 << 20, computeMs: 5000, outputBytes: 1000, printBytes: 40 };
const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const SEED = [1, 2, 3] as const;

/** A clock that advances a minute on each read: every computation exceeds its limit. */
function hurriedClock(): Clock {
  let at = 0;
  return { ...systemClock, monotonic: () => (at += 60_000) };
}

async function service(factory?: SandboxFactory) {
  const said: WorkerMessage[] = [];
  const obey = serveSandboxes(factory ?? (await createSandboxFactory(ENGINE, systemClock)), (message) =>
    said.push(message),
  );
  /** What is said about one request. */
  const ask = async (request: WorkerRequest): Promise<WorkerMessage | undefined> => {
    const before = said.length;
    await obey(request);
    return said[before];
  };
  const start = (script: string, bounds: Partial<SandboxBounds> = {}) =>
    ask({ type: 'start', script, seed: SEED, now: NOW, bounds: { ...BOUNDS, ...bounds } });
  const answer = (id: number, text: string, kind: 'json' | 'text' | 'maybe' | 'error' = 'json', now = NOW) =>
    ask({ type: 'answer', id, kind, text, now });
  const image = async (): Promise<VmImage> => {
    const message = await ask({ type: 'suspend' });
    if (message?.type !== 'suspended') throw new Error('nothing was suspended');
    return message.image;
  };
  const restore = (from: VmImage, bounds: Partial<SandboxBounds> = {}) =>
    ask({ type: 'restore', image: from, now: NOW, bounds: { ...BOUNDS, ...bounds } });
  return { ask, start, answer, image, restore };
}

const value = (json: unknown) => ({ type: 'rest', end: { kind: 'value', json: JSON.stringify(json) } });

describe('the sandbox', STARTS_PROCESSES, () => {
  it('CODE-1 runs a script with the given time and seed, and says what it returned', async () => {
    const { start } = await service();
    const script = 'return [Date.now(), new Date().getTimezoneOffset(), Math.random()]';
    const first = await start(script);
    expect(first).toMatchObject({ type: 'rest', calls: [], printed: [] });
    const [now, offset, random] = JSON.parse((first as { end: { json: string } }).end.json) as number[];
    expect([now, offset]).toEqual([NOW, 0]);
    expect(random).toBeGreaterThan(0);
    expect((await start(script)) as { end: unknown }).toMatchObject({ end: (first as { end: object }).end });
    expect(await start('')).toMatchObject({ end: { kind: 'value', json: undefined } });
  });

  it('CODE-1 names the calls that it makes and goes on with their answers', async () => {
    const { start, answer } = await service();
    const script =
      'const a = tools.x.one({ n: 1 }); const b = tools["x:two"](); return [await a, await b, await tools.x.three({}, { raw: true })]';
    expect(await start(script)).toMatchObject({
      type: 'rest',
      calls: [
        { id: 1, server: 'x', tool: 'one', json: '{"n":1}', raw: false },
        { id: 2, server: 'x', tool: 'two', json: '{}', raw: false },
      ],
    });
    expect(await answer(2, 'plain', 'text')).toMatchObject({ calls: [] });
    expect(await answer(1, '{"broken', 'maybe')).toMatchObject({ calls: [{ id: 3, raw: true }] });
    expect(await answer(99, '1')).toMatchObject({ calls: [] });
    expect(await answer(3, '{"a":1}')).toMatchObject(value(['{"broken', 'plain', { a: 1 }]));
  });

  it('CODE-1 shows the time of the last answer, and throws an answer that is an error', async () => {
    const { start, answer } = await service();
    await start('try { await tools.x.y() } catch (e) { return [e.name, e.code, e.message, Date.now()] }');
    const fields = JSON.stringify({ code: 'TOOL_NOT_FOUND', message: 'No.', server: 'x', tool: 'y', suggestion: '' });
    expect(await answer(1, fields, 'error', NOW + 5)).toMatchObject(
      value(['ToolError', 'TOOL_NOT_FOUND', 'No.', NOW + 5]),
    );
  });

  it('CODE-1 prints up to a bound and says once that the rest was left out', async () => {
    const { start } = await service();
    const said = await start('for (let i = 0; i < 5; i++) print("0123456789", i)');
    expect(said).toMatchObject({
      printed: ['0123456789 0', '0123456789 1', '0123456789 2', '… further output was left out.'],
    });
  });

  it.each([
    ['return (', 'SyntaxError'],
    ['}); (async () => {', 'SyntaxError'],
  ])('CODE-6 a script that cannot be read is a syntax error: %s', async (script, name) => {
    const { start } = await service();
    expect(await start(script)).toMatchObject({ end: { kind: 'syntax', error: { name } } });
  });

  it('CODE-6 names what was thrown, and a rejection that nothing handled', async () => {
    const { start } = await service();
    expect(await start('throw new RangeError("far")')).toMatchObject({
      end: { kind: 'error', error: { name: 'RangeError', message: 'far' } },
    });
    expect(await start('throw { a: 1 }')).toMatchObject({ end: { kind: 'error', error: { message: '{"a":1}' } } });
    expect(await start('Promise.reject(new Error("left")); return 1')).toMatchObject({
      end: { kind: 'error', error: { message: expect.stringMatching(/^left \(nothing handled this rejection/) } },
    });
    expect(
      await start('const p = Promise.reject(new Error("late")); await 0; await p.catch(() => 0); return 2'),
    ).toMatchObject(value(2));
    expect(await start('for (let i = 0; i < 500; i++) Promise.reject(i); return 1')).toMatchObject({
      end: { kind: 'error', error: { message: expect.stringMatching(/^0 \(nothing/) } },
    });
  });

  it.each<[string, string, Partial<SandboxBounds>]>([
    ['output', 'return "x".repeat(2000)', {}],
    ['memory', 'const all = []; for (;;) all.push(new Array(10000).fill(1))', { memoryBytes: 4 << 20 }],
  ])('CODE-3 a script that reaches the bound %s is a breach', async (breach, script, bounds) => {
    const { start, answer } = await service();
    expect(await start(script, bounds)).toMatchObject({ type: 'breach', breach });
    // The next script has a VM of its own.
    expect(await start('return 1')).toMatchObject(value(1));
    expect(await answer(5, '1')).toMatchObject({ type: 'rest' });
  });

  it('CODE-1 prints the beginning of a line that is too long, in whole characters', async () => {
    const { start } = await service();
    for (const [letter, kept] of [
      ['x', 39],
      ['é', 19],
    ] as const) {
      const said = await start(`print(""); print("${letter}".repeat(500)); print("more")`);
      expect(said).toMatchObject({ printed: ['', letter.repeat(kept), '… further output was left out.'] });
    }
  });

  it('CODE-3 a line of 200 bytes is printed whole or not at all, and nothing of a longer one where no room is left', async () => {
    const { start } = await service();
    const left = '… further output was left out.';
    const printed = async (script: string, printBytes: number): Promise<unknown> =>
      ((await start(script, { printBytes })) as { printed: unknown }).printed;
    expect(await printed('print("y".repeat(199))', 150)).toEqual([left]);
    expect(await printed('print("y".repeat(200))', 150)).toEqual(['y'.repeat(150), left]);
    expect(await printed('print("y".repeat(199)); print("z")', 200)).toEqual(['y'.repeat(199), left]);
    expect(await printed('print("y".repeat(199)); print("z".repeat(500))', 200)).toEqual(['y'.repeat(199), left]);
  });

  it('CODE-6 a rejection that is handled after a call was answered is no error', async () => {
    const { start, answer } = await service();
    await start('const p = Promise.reject(new Error("early")); await tools.x.y(); await p.catch(() => 0); return 2');
    expect(await answer(1, '1')).toMatchObject(value(2));
  });

  it('CODE-3 of rejections that nothing handles a hundred are kept', async () => {
    const { start, image } = await service();
    await start('for (let i = 0; i < 500; i++) Promise.reject(i); await tools.x.y()');
    expect((await image()).unhandled).toHaveLength(100);
  });

  it('CODE-3 a breach has what was printed before, and the place where the engine knows it', async () => {
    const { start } = await service();
    const script = 'print("before");\nconst all = [];\nfor (;;) all.push(new Array(10000).fill(1))';
    const said = await start(script, { memoryBytes: 4 << 20 });
    expect(said).toMatchObject({ breach: 'memory', printed: ['before'], place: expect.stringContaining('script:4:') });
    expect(await start('print("a"); return "x".repeat(2000)')).toMatchObject({ breach: 'output', printed: ['a'] });
  });

  it('CODE-3 a script that computes too long is interrupted, also while it names a rejection', async () => {
    const slow = await service(await createSandboxFactory(ENGINE, hurriedClock()));
    expect(await slow.start('print("a");\nfor (;;);')).toMatchObject({
      type: 'breach',
      breach: 'compute',
      printed: ['a'],
      place: expect.stringContaining('script:2:') as string,
    });
    expect(await slow.start('Promise.reject({ toJSON() { for (;;); } }); return 1')).toMatchObject({
      breach: 'compute',
    });
  });

  it('CODE-5 goes on from an image in another worker, with what was printed, thrown and returned before', async () => {
    const first = await service();
    await first.start(
      'print("0123456789 0123456789"); let n = 1; n += await tools.x.y(); print("0123456789 0123456789"); return n',
    );
    const image = await first.image();
    expect(await first.ask({ type: 'suspend' })).toBeUndefined();
    expect(await first.answer(1, '1')).toBeUndefined();

    const second = await service();
    expect(await second.restore(image)).toMatchObject({ type: 'rest', calls: [], printed: [] });
    expect(await second.answer(1, '41')).toMatchObject({
      ...value(42),
      printed: ['… further output was left out.'],
    });

    await first.start('tools.x.y(); Promise.reject(new Error("left")); return 7');
    const ended = await first.image();
    expect(ended).toMatchObject({
      end: { kind: 'value', json: '7' },
      unhandled: [[expect.any(Number), expect.any(Number), expect.any(String)]],
    });
    expect(await second.restore(ended)).toMatchObject({ end: { kind: 'error', error: { name: 'Error' } } });
  });

  it('CODE-5 refuses an image of another engine, and one that is damaged', async () => {
    const { start, image, restore, ask } = await service();
    await start('await tools.x.y()');
    const written = await image();
    expect(await restore({ ...written, engine: 'other' })).toMatchObject({
      type: 'breach',
      breach: 'engine',
      detail: 'it was suspended by another version',
    });
    expect(await restore({ ...written, memory: written.memory.slice(0, 100) })).toMatchObject({ breach: 'engine' });
    expect(await ask({ type: 'discard' })).toBeUndefined();
  });

  it('CODE-5 an engine of other bytes refuses the image, though it would run it', async () => {
    const { start, image } = await service();
    await start('await tools.x.y()');
    const written = await image();
    // A section that says nothing: only the bytes differ.
    const other = await service(
      await createSandboxFactory(Buffer.concat([ENGINE, Buffer.from([0, 2, 1, 120])]), systemClock),
    );
    expect(await other.restore(written)).toMatchObject({ detail: 'it was suspended by another version' });
    await other.start('await tools.x.y()');
    expect((await other.image()).engine).toMatch(/^[0-9a-f]{32}$/);
  });

  it('CODE-3 whatever a factory throws is a breach', async () => {
    const broken: SandboxFactory = {
      create: () => Promise.reject('no room'),
      restore: () => Promise.reject(new Error('no image')),
    };
    const { start, restore } = await service(broken);
    expect(await start('return 1')).toEqual({ type: 'breach', breach: 'engine', detail: 'no room' });
    const image = { memory: new Uint8Array(), engine: '', exports: 0, printedBytes: 0, unhandled: [] };
    expect(await restore(image)).toMatchObject({ type: 'breach', detail: 'no image' });
  });
});
