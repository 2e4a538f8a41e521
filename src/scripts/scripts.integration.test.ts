import { describe, expect, it } from 'vitest';
import { Canceller, type Cancel } from '../kernel/async/cancel.js';
import { systemClock } from '../kernel/clock.js';
import { ToolscoutError } from '../kernel/errors.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { CallResult, Progress } from '../model/call.js';
import type { Host } from '../model/host.js';
import type { ScriptBounds, ScriptResult } from '../model/script.js';
import { createMemoryStore } from '../store/index.js';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { patient, STARTS_PROCESSES } from '../../test/support/patience.js';
import { testWorkers } from '../../test/support/script-workers.js';
import type { ScriptCall } from './script-call.js';
import { createScripts, type ScriptRequest, type Scripts } from './scripts.js';

const BOUNDS: ScriptBounds = {
  memoryBytes: 64 * 1024 * 1024,
  computeMs: patient(5000),
  timeoutMs: patient(60_000),
  calls: 100,
  parallel: 8,
};
const workers = await testWorkers();

const ok = (structuredContent: JsonObject): CallResult => ({
  success: true,
  result: { content: [], structuredContent },
});
const failure = (code: 'TOOL_NOT_FOUND', { server, tool }: ScriptCall): CallResult => ({
  success: false,
  error: {
    code,
    message: 'There is no such tool.',
    server,
    tool,
    remedy: { kind: 'advice', text: 'Look for it.' },
    suggestion: 'Look for it.',
    severity: 'WARNING',
  },
});

type Tools = Record<string, (call: ScriptCall) => CallResult | Promise<CallResult>>;

const STANDARD: Tools = {
  echo: (call) => ok(call.arguments),
  text: () => ({ success: true, result: { content: [{ type: 'text', text: 'plain' }] } }),
  json: () => ({ success: true, result: { content: [{ type: 'text', text: '{"a":[1]}' }] } }),
  lines: () => ({
    success: true,
    result: {
      content: [
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ],
    },
  }),
  image: () => ({ success: true, result: { content: [{ type: 'image', data: '', mimeType: 'image/png' }] } }),
  fail: (call) => failure('TOOL_NOT_FOUND', call),
};

interface Bench {
  readonly scripts: Scripts;
  readonly made: ScriptCall[];
  request(more?: Partial<ScriptRequest>): ScriptRequest;
  run(script: string, more?: Partial<ScriptRequest>): Promise<ScriptResult>;
}

function bench(tools: Tools = STANDARD, store = createMemoryStore({ clock: systemClock })): Bench {
  const shapeOf = (value: JsonValue): string => (isObject(value) ? `{${Object.keys(value).join(', ')}}` : typeof value);
  const scripts = createScripts({ store, clock: systemClock, workers, shapeOf });
  const made: ScriptCall[] = [];
  const request = (more: Partial<ScriptRequest> = {}): ScriptRequest => ({
    owner: { principal: 'ann' },
    record: 'record-1',
    bounds: BOUNDS,
    callTool: () => async (call) => {
      made.push(call);
      const tool = Object.hasOwn(tools, call.tool) ? tools[call.tool]! : STANDARD['echo']!;
      return tool(call);
    },
    ...more,
  });
  return { scripts, made, request, run: async (script, more) => (await scripts.run(script, request(more))).result };
}

const MODERN: Host = {
  id: 'h',
  era: 'modern',
  capabilities: { elicitation: {} },
  request: () => Promise.reject(new Error('A modern host is not asked in the middle of a request.')),
  notify: () => undefined,
};

describe('scripts', STARTS_PROCESSES, () => {
  it.each<[string, unknown]>([
    ['return 1 + 1', 2],
    ['return "x"', 'x'],
    ['return null', null],
    ['return await tools.a.echo({ b: 1 })', { b: 1 }],
    ['return await tools["a-b"]["c.d"]({ b: 1 })', { b: 1 }],
    ['return await tools["a-b:c:d"]({ b: 1 })', { b: 1 }],
    ['return [await tools.a.text(), await tools.a.json(), await tools.a.lines()]', ['plain', { a: [1] }, 'one\ntwo']],
    ['return await tools.a.image()', [{ type: 'image', data: '', mimeType: 'image/png' }]],
    ['return await tools.a.text({}, { raw: true })', { content: [{ type: 'text', text: 'plain' }] }],
    ['return (await Promise.all([1, 2].map((n) => tools.a.echo({ n })))).map(({ n }) => n)', [1, 2]],
    [
      'try { await tools.a.fail() } catch ({ name, ...error }) { return { name, ...error } }',
      {
        name: 'ToolError',
        code: 'TOOL_NOT_FOUND',
        server: 'a',
        tool: 'fail',
        suggestion: 'Look for it.',
      },
    ],
    [
      'await tools; return [typeof tools.then, typeof tools.a.then, String(tools.a), "b" in tools.a]',
      ['undefined', 'undefined', '[tools of a]', true],
    ],
    ['return { bytes: new Uint8Array([1, 2]), view: new DataView(new ArrayBuffer(1)) }', { bytes: [1, 2], view: {} }],
    ['class A { toJSON() { return { a: 1 } } } return [new A(), { b: { toJSON: () => 2 } }]', [{ a: 1 }, { b: 2 }]],
    [
      'return { a: 1n, b: new Map([[1, new Set([2])]]), c: () => 1, d: [Symbol()], e: new Date(0), f: NaN }',
      {
        a: '1',
        b: [[1, [2]]],
        d: [null],
        e: '1970-01-01T00:00:00.000Z',
        f: null,
      },
    ],
    [
      'tools.a.echo(); return "calls that nobody waits for are waited for"',
      'calls that nobody waits for are waited for',
    ],
  ])('CODE-1 %s', async (script, value) => {
    const { run } = bench();
    expect(await run(script)).toMatchObject({ success: true, value });
  });

  it('CODE-1 has the globals of ECMAScript, tools and print, and nothing else', async () => {
    const { run } = bench();
    const { value } = await run('return Object.getOwnPropertyNames(globalThis)');
    const ours = new Set(Object.getOwnPropertyNames(globalThis));
    const added = (value as string[]).filter((name) => !ours.has(name));
    // The engine supports more of ECMAScript than Node.js 20 does.
    const newer = new Set(['SuppressedError', 'DisposableStack', 'AsyncDisposableStack', 'Float16Array', 'Iterator']);
    expect(added.filter((name) => !newer.has(name)).toSorted()).toEqual(['print', 'tools']);
    for (const name of ['WebAssembly', 'setTimeout', 'queueMicrotask', 'process', 'require', 'fetch', 'console']) {
      expect(value).not.toContain(name);
    }
  });

  it('CODE-1 collects what is printed, within a bound', async () => {
    const { run } = bench();
    expect(await run('print("a", 1, { b: [2n] }); print(new TypeError("x"))')).toEqual({
      success: true,
      calls: 0,
      printed: ['a 1 {"b":["2"]}', 'TypeError: x'],
    });
    const { printed } = await run('for (let i = 0; i < 1e4; i++) print("line", i); return 1');
    expect(printed.join('\n').length).toBeLessThan(17 * 1024);
    expect(printed.at(-1)).toBe('… further output was left out.');
  });

  it('CODE-1 shows the first part of a print that is too long, and what was printed before a bound was reached', async () => {
    const { run } = bench();
    const long = await run('print("x".repeat(20_000)); print("é".repeat(5)); return 1');
    expect(long.printed[0]).toBe('x'.repeat(16 * 1024));
    expect(long.printed.slice(1)).toEqual(['… further output was left out.']);
    const wide = await run('print("a"); print("é".repeat(20_000))');
    expect(Buffer.byteLength(wide.printed[1]!)).toBeLessThanOrEqual(16 * 1024);
    expect(wide.printed[1]).toMatch(/^é{8000,}$/);
    const bounds = { ...BOUNDS, computeMs: 100 };
    const endless = await run('print("before");\n\nconst spin = () => {\n  for (;;);\n};\nspin()', { bounds });
    expect(endless).toMatchObject({ success: false, printed: ['before'], error: { code: 'SCRIPT_LIMIT_EXCEEDED' } });
    expect(endless.error?.message).toMatch(/Near line [34]: /);
  });

  it('CODE-1 Date is the time of the last answer, and Math.random is seeded anew for each script', async () => {
    const { run } = bench();
    const script =
      'const a = Date.now(); for (let i = 0; i < 1e5; i++); const b = Date.now(); await tools.a.echo(); return [a === b, Date.now() >= b, Math.random(), new Date().getTimezoneOffset()]';
    const [first, second] = [(await run(script)).value, (await run(script)).value] as unknown[][];
    expect(first).toMatchObject([true, true, expect.any(Number), 0]);
    expect(first?.[2]).not.toBe(second?.[2]);
  });

  it.each<[string, Partial<ScriptBounds>, string]>([
    ['while (true) {}', { computeMs: 100 }, 'computed longer than 100 ms'],
    ['try { while (true) {} } catch { return 1 } finally { return 2 }', { computeMs: 100 }, 'computed longer'],
    ['for (;;) await null', { computeMs: 100 }, 'computed longer'],
    ['return /(a+)+$/.test("a".repeat(40) + "b")', { computeMs: 100 }, 'computed longer'],
    ['const a = []; for (;;) a.push(new Array(1000).fill(0))', { memoryBytes: 16 << 20 }, '16 MB of memory'],
    ['for (let i = 0; i < 4; i++) await tools.a.echo()', { calls: 3 }, 'more than 3 calls'],
    ['return "x".repeat(9e6)', {}, 'at most 8 MB'],
    ['await tools.a.hang()', { timeoutMs: 100 }, 'did not end within 100 ms'],
    ['return await tools.a.huge()', { memoryBytes: 4 << 20 }, 'does not fit into the memory'],
  ])('CODE-3 ends %s', async (script, bounds, message) => {
    const hang = (call: ScriptCall): Promise<CallResult> =>
      new Promise((resolve) =>
        call.signal.addEventListener('abort', () => resolve(failure('TOOL_NOT_FOUND', call)), { once: true }),
      );
    const huge = (): CallResult => ok({ text: 'x'.repeat(4 << 20) });
    const { run } = bench({ ...STANDARD, hang, huge });
    const { success, error } = await run(script, { bounds: { ...BOUNDS, ...bounds } });
    expect(success).toBe(false);
    expect(error?.code).toBe(message.includes('does not fit') ? 'SCRIPT_ERROR' : 'SCRIPT_LIMIT_EXCEEDED');
    expect(error?.message).toContain(message);
    expect(await run('return 1')).toMatchObject({ success: true, value: 1 });
  });

  it('CODE-3 makes 8 calls at once, and further ones when those have ended', async () => {
    let running = 0;
    let most = 0;
    const slow = async ({ arguments: args }: ScriptCall): Promise<CallResult> => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return ok(args);
    };
    const { run } = bench({ slow });
    const { value } = await run(
      'return (await Promise.all(Array.from({ length: 50 }, (_, n) => tools.a.slow({ n })))).map(({ n }) => n)',
    );
    expect(value).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect(most).toBe(8);
  });

  it.each<[string, string, number | undefined, number | undefined]>([
    ['let a = ;', "SyntaxError: unexpected token in expression: ';'", 1, 9],
    ['const a = 1;\n\nif (a) {\n', 'SyntaxError', 4, 1],
    ['}); (async () => {', 'SyntaxError', 1, 2],
    ['const a = {};\n  a.b.c()', "TypeError: cannot read property 'c' of undefined", 2, 3],
    ['const f = () => {\n  throw new RangeError("far")\n};\nf()', 'RangeError: far', 2, 13],
    ['throw "words"', 'Thrown: words', undefined, undefined],
    ['throw { a: 1 }', 'Thrown: {"a":1}', undefined, undefined],
    ['\n  await tools.a.fail({})', 'a:fail failed: TOOL_NOT_FOUND: There is no such tool.', 2, 17],
    ['const p = tools.a.fail();\nreturn 1', 'nothing handled this rejection', 1, 19],
    ['await new Promise(() => {})', 'nothing will resolve', undefined, undefined],
    [
      'const o = { a: [] }; o.a.push(o); return o',
      'value.a[0] refers to an object that contains it',
      undefined,
      undefined,
    ],
    ['return () => 1', 'it is a function', undefined, undefined],
    ['return Symbol()', 'it is a symbol', undefined, undefined],
    ['return await tools.a.echo(5)', 'must be one object', 1, 22],
    ['const f = () => f(); f()', 'Maximum call stack size exceeded', 1, 17],
    ['console.log(1)', 'console is not defined', 1, 1],
    ['return [1, 2].map((n) => tools.a.echo({ n }))', 'value[0] is a promise: await it', undefined, undefined],
    ['return { log: [1, tools.a.text()] }', 'value.log[1] is a promise: await it', undefined, undefined],
    ['await tools.a.echo({ log: tools.a.text() })', 'arguments.log is a promise: await it', 1, 35],
    ['return "Log: " + tools.a.text()', 'A promise is used as a text or a number: await it', 1, 26],
    ['return `Log: ${tools.a.text()}`', 'A promise is used as a text or a number: await it', 1, 24],
    ['return tools', 'cannot list the names of tools: search for them', undefined, undefined],
    ['return Object.keys(tools.a)', 'cannot list the names of tools: search for them', 1, 20],
    ['await tools.a.text({}, { select: "a" })', 'has only the option raw, not select', 1, 15],
    [
      'const a = []; a.push(a); await tools.a.echo({ a })',
      'What a:echo is called with cannot be written as JSON',
      1,
      40,
    ],
  ])('CODE-6 says what is wrong with %j, and where', async (script, message, line, column) => {
    const { run } = bench();
    const { success, error } = await run(script);
    expect(success).toBe(false);
    expect(error).toMatchObject({ code: 'SCRIPT_ERROR', message: expect.stringContaining(message) });
    expect([error?.line, error?.column]).toEqual([line, column]);
    if (line === undefined) return;
    const shown = error?.source ? `: ${error.source}` : '';
    expect(error?.message).toContain(`At line ${line}, column ${column}${shown}`);
  });

  it.each([
    ['return foo(1', 'not closed, or is closed twice'],
    ['if (true) { return 1', 'not closed, or is closed twice'],
    ['return 1 }', 'not closed, or is closed twice'],
    ['const a: number = 1; return a', 'Write JavaScript: types of TypeScript'],
    ['function f(a: string) { return a } return f(1)', 'Write JavaScript: types of TypeScript'],
    ['interface A { b: string }\nreturn 1', 'Write JavaScript: types of TypeScript'],
    ['return x as any', 'Write JavaScript: types of TypeScript'],
    ["import fs from 'fs';\nreturn 1", 'there are no modules'],
    ['export default 1', 'there are no modules'],
    ['return await import("fs")', 'there are no modules'],
    ['return require("fs")', 'there are no modules'],
    ['```js\nreturn 1\n```', 'without the ``` around it'],
    ['async function (tools) { return 1 }', 'Send the body of an async function'],
    ['let a = ;', 'Fix the syntax there'],
    ['return tools.everything.get-sum({ a: 1 })', 'in brackets: ["get-sum"]'],
    ['return tools.x.get-the-sum({ a: 1 })', 'in brackets: ["get-the-sum"]'],
    ['return a-sum', 'Fix the script'],
    ['console.log(1)', 'Use print'],
  ])('CODE-6 suggests what to do about %j', async (script, suggestion) => {
    expect((await bench().run(script)).error?.suggestion).toContain(suggestion);
  });

  it('CODE-6 an error behind the last line names the place alone', async () => {
    const { error } = await bench().run('return (\n');
    expect(error?.message).toMatch(/ At line 2, column 1$/);
  });

  it('CODE-6 an error of the script tells what the last call gave', async () => {
    const { run } = bench();
    const { error } = await run(
      'const answer = await tools.a.echo({ content: "x" });\nreturn answer.items.find(Boolean)',
    );
    expect(error?.message).toContain("TypeError: cannot read property 'find' of undefined. At line 2");
    expect(error?.message).toContain('The last answer, of a:echo, is {content}.');
    expect((await run('await tools.a.json(); null.x')).error?.message).toContain('of a:json, is {a}.');
    expect((await run('await tools.a.text(); null.x')).error?.message).toContain('of a:text, is string.');
    expect((await run('await tools.a.lines(); null.x')).error?.message).toContain('of a:lines, is string.');
    expect((await run('await tools.a.text(); throw new RangeError("x")')).error?.message).not.toContain('last answer');
    expect((await run('try { await tools.a.fail() } catch {} null.x')).error?.message).not.toContain('last answer');
  });

  it('CODE-6 a script that failed after calls names those that took effect', async () => {
    const { run } = bench();
    const { error, calls } = await run(
      'for (const n of [1, 2]) await tools.a.echo({ n }); await tools.b.json(); await tools.a.fail()',
      { mayChange: (address) => address !== 'b:json' },
    );
    expect(calls).toBe(4);
    expect(error?.message).toContain('2 calls took effect before that: a:echo (2 times).');
    expect(error?.suggestion).toBe('Look for it. Leave out what took effect when you run it again.');
    const one = await run('await tools.a.echo({}); throw 1');
    expect(one.error?.message).toContain('1 call took effect before that: a:echo.');
    const many = 'for (let n = 0; n < 7; n++) await tools["a:t" + n](); for (;;);';
    const stopped = await run(many, { bounds: { ...BOUNDS, computeMs: 200 } });
    expect(stopped.error?.message).toContain('7 calls took effect before that: a:t0, a:t1, a:t2, a:t3, a:t4, ….');
    expect((await run('throw 1')).error?.suggestion).toBe('Fix the script and run it again.');
  });

  it('CODE-4 progress has a total only while several calls are under way', async () => {
    const told: string[] = [];
    const onProgress = ({ message = '', total }: Progress): void => void told.push(`${message} (${total ?? 'open'})`);
    const script = 'await tools.a.one(); await tools.a.two(); await Promise.all([tools.a.x(), tools.a.y()])';
    await bench().run(script, { onProgress });
    expect(told).toEqual(['1: a:one (open)', '2: a:two (open)', '3 of 4: a:x (4)', '4 of 4: a:y (4)']);
  });

  it('CODE-3 a bound names the calls that it met, and values that nest too deep are named', async () => {
    const { run } = bench({ hang: () => new Promise(() => undefined) });
    const many = await run('for (;;) await tools.a.echo()', { bounds: { ...BOUNDS, calls: 3 } });
    expect(many.error?.message).toContain('The next would have been a:echo.');
    const clock = createFakeClock(systemClock.now());
    const { made, request } = bench({ hang: () => new Promise(() => undefined) });
    const scripts = createScripts({ store: createMemoryStore({ clock }), clock, workers });
    const late = scripts.run('await tools.a.hang()', request());
    await expect.poll(() => made.length).toBe(1);
    clock.advance(BOUNDS.timeoutMs + 1);
    expect((await late).result.error?.message).toContain('It waited for a:hang.');
    const deep = await run('let o = {}; for (let i = 0; i < 100_000; i++) o = { o }; return o');
    expect(deep.error?.message).toContain('nests deeper than 1000 levels');
    const wide = await run('return Array.from({ length: 50_000 }, (_, a) => ({ a: { b: [a] } }))');
    expect(wide).toMatchObject({ success: true });
  });

  it('CODE-6 a rejection that is handled later is no error', async () => {
    const { run } = bench();
    const script = 'const p = tools.a.fail(); await tools.a.echo(); try { await p } catch (e) { return e.code }';
    expect(await run(script)).toMatchObject({ success: true, value: 'TOOL_NOT_FOUND' });
  });

  it('CODE-7 cancelling cancels the calls, and the next script runs', async () => {
    const stop = new Canceller();
    const cancelled: unknown[] = [];
    const hang = (call: ScriptCall): Promise<CallResult> => {
      queueMicrotask(() => stop.abort(new Error('enough')));
      return new Promise(() => call.signal.addEventListener('abort', () => cancelled.push(call.tool)));
    };
    const { run } = bench({ hang });
    const { error } = await run('await tools.a.hang()', { signal: stop });
    expect(error?.code).toBe('CANCELLED');
    expect(cancelled).toEqual(['hang']);
    expect(await run('return 1')).toMatchObject({ value: 1 });
  });
});

/** A modern server that asks before it answers, and what it got. */
function askingTools(): { readonly tools: Tools; readonly answers: JsonObject[] } {
  const answers: JsonObject[] = [];
  const ask = ({ arguments: args, resumed }: ScriptCall): CallResult => {
    const inputResponses = resumed?.inputResponses;
    if (!isObject(inputResponses)) {
      const inputRequests = { name: { method: 'elicitation/create', params: { message: String(args['q']) } } };
      return {
        success: true,
        result: { resultType: 'input_required', inputRequests, requestState: `state of ${args['q']}` },
      };
    }
    answers.push({ ...inputResponses, state: resumed?.requestState });
    return ok({ got: inputResponses['name'] });
  };
  return { tools: { ...STANDARD, ask }, answers };
}

describe('suspended scripts', STARTS_PROCESSES, () => {
  const SCRIPT =
    'const r = [Math.random()]; const before = await tools.a.echo({ n: 1 }); print("asking"); const name = await tools.a.ask({ q: "who" }); r.push(Math.random()); return { before, name, after: await tools.a.echo({ n: 2 }), isNew: r[0] !== r[1] }';

  it('CODE-5 a script goes on in another process over the same store, and makes no call twice', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { tools, answers } = askingTools();
    const first = bench(tools, store);
    const { suspended } = await first.run(SCRIPT, { host: MODERN });
    expect(suspended?.inputRequests).toEqual({
      '2.name': { method: 'elicitation/create', params: { message: 'who' } },
    });
    const second = bench(tools, store);
    const { result } = await second.scripts.resume(
      suspended!.state,
      SCRIPT,
      { '2.name': { action: 'accept', content: 'Ann' } },
      second.request({ host: MODERN }),
    );
    expect(result).toEqual({
      success: true,
      calls: 3,
      printed: ['asking'],
      value: {
        before: { n: 1 },
        name: { got: { action: 'accept', content: 'Ann' } },
        after: { n: 2 },
        isNew: true,
      },
    });
    expect(answers).toEqual([{ name: { action: 'accept', content: 'Ann' }, state: 'state of who' }]);
    expect([...first.made, ...second.made].map(({ tool, arguments: args }) => [tool, args])).toEqual([
      ['echo', { n: 1 }],
      ['ask', { q: 'who' }],
      ['ask', { q: 'who' }],
      ['echo', { n: 2 }],
    ]);
  });

  it('CODE-5 asks for several calls at once, and again for what was not answered', async () => {
    const { tools } = askingTools();
    const { scripts, run, request } = bench(tools);
    const script = 'return await Promise.all(["a", "b"].map((q) => tools.a.ask({ q })))';
    const { suspended } = await run(script, { host: MODERN });
    expect(Object.keys(suspended!.inputRequests)).toEqual(['1.name', '2.name']);
    const again = await scripts.resume(suspended!.state, script, { '2.name': { n: 2 } }, request({ host: MODERN }));
    expect(Object.keys(again.result.suspended!.inputRequests)).toEqual(['1.name']);
    const end = await scripts.resume(
      again.result.suspended!.state,
      script,
      { '1.name': { n: 1 } },
      request({ host: MODERN }),
    );
    expect(end.result.value).toEqual([{ got: { n: 1 } }, { got: { n: 2 } }]);
  });

  it('CODE-5 A56 a state is good once, for its principal and its script, and not for ever', async () => {
    const clock = createFakeClock();
    const store = createMemoryStore({ clock });
    const { tools } = askingTools();
    const { run, request } = bench(tools, store);
    const scripts = createScripts({ store, clock, workers });
    const script = 'return await tools.a.ask({ q: "who" })';
    const suspend = async (): Promise<string> =>
      (await scripts.run(script, request({ host: MODERN }))).result.suspended!.state;
    const resume = async (state: string, source = script, principal = 'ann'): Promise<unknown> =>
      (await scripts.resume(state, source, { '1.name': { n: 1 } }, request({ host: MODERN, owner: { principal } })))
        .result;
    const gone = {
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('The requestState is unknown or expired'),
    };
    const state = await suspend();
    await expect(resume(`${state}x`)).rejects.toMatchObject(gone);
    await expect(resume(state, `${script} `)).rejects.toMatchObject(gone);
    await expect(resume(state, script, 'bob')).rejects.toMatchObject(gone);
    expect(await resume(state)).toMatchObject({ success: true });
    await expect(resume(state)).rejects.toMatchObject(gone);
    const late = await suspend();
    await clock.advance(3_600_001);
    await expect(resume(late)).rejects.toMatchObject(gone);
    expect(await run('return 1')).toMatchObject({ value: 1 });
    // What has expired is removed when the next script is suspended.
    await suspend();
    expect(await store.list('scripts')).toHaveLength(1);
  });

  it('CODE-5 nothing of a suspended script can be read in the store', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { tools } = askingTools();
    const { run } = bench(tools, store);
    await run(
      'const secret = "canary-1"; const seen = await tools.a.echo({ text: "canary-2" }); await tools.a.ask({ q: "canary-3" }); return secret',
      {
        host: MODERN,
      },
    );
    const entries = await Promise.all(['scripts', 'script-claims', 'script-key'].map((space) => store.list(space)));
    expect(entries.map((list) => list.length)).toEqual([1, 1, 1]);
    const text = JSON.stringify(entries);
    const plain = Buffer.from(String(entries[0]![0]!.value), 'base64').toString('latin1');
    for (const canary of ['canary-1', 'canary-2', 'canary-3']) {
      expect(text).not.toContain(canary);
      expect(plain).not.toContain(canary);
    }
  });

  it('CODE-5 a call to a server that asks in the middle goes on in this process, and is lost with it', async () => {
    const live = async (call: ScriptCall): Promise<CallResult> =>
      ok({ answer: await call.host!.request('elicitation/create', { message: 'live' }) });
    const store = createMemoryStore({ clock: systemClock });
    const script = 'try { return await tools.a.live() } catch (e) { return e.message }';
    const same = bench({ live }, store);
    const { suspended } = await same.run(script, { host: MODERN });
    const answers = { '1.question-1': { action: 'accept' } };
    const { result } = await same.scripts.resume(suspended!.state, script, answers, same.request({ host: MODERN }));
    expect(result.value).toEqual({ answer: { action: 'accept' } });

    const before = bench({ live }, store);
    const lost = (await before.run(script, { host: MODERN })).suspended!;
    const after = bench({ live }, store);
    const end = await after.scripts.resume(lost.state, script, answers, after.request({ host: MODERN }));
    expect(end.result.value).toContain('is unknown');
    expect(after.made).toEqual([]);
    await before.scripts.close();
  });

  it('CODE-5 a process that dies after a script went on: answers are given again, and what was sent is not sent again', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { tools } = askingTools();
    const hang = (): Promise<CallResult> => new Promise(() => undefined);
    const script =
      'const name = await tools.a.ask({ q: "who" }); const one = await tools.a.echo({ n: 1, at: Math.random() }); let two; try { two = await tools.a.hang({ n: 2 }) } catch (e) { two = e.message } return { name, one, two, at: one.at }';
    const first = bench({ ...tools, hang }, store);
    const { suspended } = await first.run(script, { host: MODERN });
    const clock = createFakeClock(systemClock.now());
    const dying = createScripts({ store, clock, workers });
    const answers = { '1.name': { n: 1 } };
    // It never answers: this stands for a process that is killed while a call is at its server.
    void dying.resume(suspended!.state, script, answers, first.request({ host: MODERN }));
    await expect.poll(() => first.made.length).toBe(4);
    const early = createScripts({ store, clock, workers });
    await expect(
      early.resume(suspended!.state, script, answers, first.request({ host: MODERN })),
    ).rejects.toMatchObject({
      message: 'The script is already running.',
      retryAfterMs: expect.any(Number),
    });
    const later = createFakeClock(systemClock.now() + 60_000);
    const next = bench({ ...tools, hang }, store);
    const { result } = await createScripts({ store, clock: later, workers }).resume(
      suspended!.state,
      script,
      answers,
      next.request({ host: MODERN }),
    );
    expect(result.value).toMatchObject({
      name: { got: { n: 1 } },
      one: { n: 1 },
      two: expect.stringContaining('unknown'),
    });
    expect(next.made).toEqual([]);
    await dying.close().catch(() => undefined);
  });
});

/** A host of the 2025 era that answers on its connection. */
function legacyHost(
  answer: (method: string, params: unknown, signal: Cancel | undefined) => Promise<JsonObject>,
): Host {
  return {
    id: 'old',
    era: 'legacy',
    capabilities: { elicitation: {} },
    request: (method, params, options) => answer(method, params, options?.signal),
    notify: () => undefined,
  };
}

const untilAborted = (signal: Cancel | undefined): Promise<JsonObject> =>
  new Promise((_resolve, reject) =>
    signal?.addEventListener('abort', () => reject(new Error(String(signal.reason))), { once: true }),
  );

describe('scripts of hosts that are asked on their connection', STARTS_PROCESSES, () => {
  const SCRIPT =
    'const one = await tools.a.echo({ n: 1 }); const name = await tools.a.ask({ q: "who" }); return [one, name, await tools.a.echo({ n: 2 })]';

  it('CODE-5 asks one question after the other, of servers of both eras, and goes on', async () => {
    const { tools } = askingTools();
    const live = async (call: ScriptCall): Promise<CallResult> =>
      ok({ answer: await call.host!.request('elicitation/create', { message: 'live' }) });
    const asked: unknown[] = [];
    const host = legacyHost(async (method, params) => {
      asked.push([method, params]);
      return { action: 'accept', content: { at: asked.length } };
    });
    const store = createMemoryStore({ clock: systemClock });
    const { run } = bench({ ...tools, live }, store);
    const script =
      'return [await tools.a.ask({ q: "who" }), await Promise.all([tools.a.live(), tools.a.ask({ q: "two" })])]';
    expect(await run(script, { host })).toMatchObject({
      success: true,
      value: [
        { got: { action: 'accept', content: { at: 1 } } },
        [{ answer: { content: { at: 2 } } }, { got: { content: { at: 3 } } }],
      ],
    });
    expect(asked).toEqual([
      ['elicitation/create', { message: 'who' }],
      ['elicitation/create', { message: 'live' }],
      ['elicitation/create', { message: 'two' }],
    ]);
    for (const space of ['scripts', 'script-claims', 'script-waiting']) expect(await store.list(space)).toEqual([]);
  });

  it('CODE-5 a host that refuses a question fails the call that asked it, and the script can go on', async () => {
    const { tools } = askingTools();
    const live = async (call: ScriptCall): Promise<CallResult> =>
      ok({ answer: await call.host!.request('elicitation/create', { message: 'live' }) });
    const host = legacyHost(() => Promise.reject(new ToolscoutError('TOOL_EXECUTION_ERROR', 'The host said no.')));
    const { run } = bench({ ...tools, live });
    const script =
      'const said = []; for (const tool of ["ask", "live"]) try { await tools.a[tool]({ q: 1 }) } catch (e) { said.push(e.message) } return said';
    expect((await run(script, { host })).value).toEqual(['The host said no.', 'The host said no.']);
  });

  it('CODE-5 a question that its server withdraws is withdrawn from the host', async () => {
    const withdraw = new Canceller();
    const live = async (call: ScriptCall): Promise<CallResult> => {
      const answer = call.host!.request('elicitation/create', { message: 'x' }, { signal: withdraw });
      return ok({ said: await answer.catch((thrown: Error) => thrown.message) });
    };
    const host = legacyHost((_method, _params, signal) => {
      queueMicrotask(() => withdraw.abort(new Error('enough')));
      return untilAborted(signal);
    });
    const { run } = bench({ live });
    expect((await run('return tools.a.live()', { host })).value).toEqual({
      said: "The server's question was cancelled before it was answered.",
    });
  });

  it('CODE-5 the same script of the same caller goes on after its process died, and makes no call twice', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { tools, answers } = askingTools();
    const before = bench(tools, store);
    const clock = createFakeClock(systemClock.now());
    const dying = createScripts({ store, clock, workers });
    // It is never answered: this stands for a process that is killed while its host is asked.
    void dying.run(SCRIPT, before.request({ host: legacyHost(() => new Promise(() => undefined)) }));
    await expect.poll(async () => (await store.list('script-waiting')).length).toBe(1);

    const host = legacyHost(async () => ({ action: 'accept', content: 'Ann' }));
    const after = bench(tools, store);
    const later = createFakeClock(systemClock.now() + 60_000);
    const started = createScripts({ store, clock: later, workers });
    const other = await started.run(SCRIPT, after.request({ host, owner: { principal: 'bob' } }));
    expect(other.result).toMatchObject({ success: true, calls: 3, printed: [] });
    const made = after.made.length;

    const { result } = await started.run(SCRIPT, after.request({ host }));
    expect(result).toMatchObject({
      success: true,
      calls: 3,
      value: [{ n: 1 }, { got: { action: 'accept', content: 'Ann' } }, { n: 2 }],
      printed: [],
      note: expect.stringContaining('went on with the same script'),
    });
    const own = [...before.made, ...after.made.slice(made)].map(({ tool, arguments: args }) => [tool, args]);
    expect(own).toEqual([
      ['echo', { n: 1 }],
      ['ask', { q: 'who' }],
      ['ask', { q: 'who' }],
      ['echo', { n: 2 }],
    ]);
    expect(answers.at(-1)).toMatchObject({ state: 'state of who' });
    expect(await store.list('script-waiting')).toEqual([]);
    // The next one starts from the beginning.
    expect((await started.run(SCRIPT, after.request({ host }))).result).not.toHaveProperty('note');
  });

  it('CODE-5 a call that was lost with its process is an error, and the user is not asked for it again', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const live = async (call: ScriptCall): Promise<CallResult> =>
      ok({ answer: await call.host!.request('elicitation/create', { message: 'live' }) });
    const script = 'await tools.a.echo({ n: 1 }); return await tools.a.live()';
    const before = bench({ live }, store);
    const dying = createScripts({ store, clock: createFakeClock(systemClock.now()), workers });
    void dying.run(script, before.request({ host: legacyHost(() => new Promise(() => undefined)) }));
    await expect.poll(async () => (await store.list('script-waiting')).length).toBe(1);

    let asked = 0;
    const host = legacyHost(async () => ({ action: 'accept', content: { asked: ++asked } }));
    const after = bench({ live }, store);
    const later = createScripts({ store, clock: createFakeClock(systemClock.now() + 60_000), workers });
    const { result } = await later.run(script, after.request({ host }));
    expect(result.error?.message).toContain('The outcome of the call to "a:live" is unknown');
    expect(result.error?.message).toContain('1 call took effect before that: a:echo.');
    expect(result.note).toContain('went on with the same script');
    expect(asked).toBe(0);
    expect(after.made).toEqual([]);
  });

  it('CODE-5 the same script begins anew while another session, here or elsewhere, still waits', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { tools } = askingTools();
    const alive = bench(tools, store);
    const stop = new Canceller();
    const waits = alive.run(SCRIPT, { host: legacyHost((_m, _p, signal) => untilAborted(signal)), signal: stop });
    await expect.poll(async () => (await store.list('script-waiting')).length).toBe(1);
    const host = legacyHost(async () => ({ action: 'accept', content: 'Bob' }));
    expect(await alive.run(SCRIPT, { host })).toMatchObject({ success: true, printed: [] });
    // A second process sees that the first one renews its claim.
    const renewing = alive.run(SCRIPT, { host: legacyHost((_m, _p, signal) => untilAborted(signal)), signal: stop });
    await expect.poll(async () => (await store.list('script-waiting')).length).toBe(1);
    expect(await bench(tools, store).run(SCRIPT, { host })).toMatchObject({ success: true, printed: [] });
    stop.abort(new Error('gone'));
    expect((await waits).error?.code).toBe('CANCELLED');
    expect((await renewing).error?.code).toBe('CANCELLED');
    expect(await store.list('scripts')).toEqual([]);
  });

  it('CODE-5 a toolscout that stops in order leaves the script to the next one', async () => {
    const store = createMemoryStore({ clock: systemClock });
    const { tools } = askingTools();
    const own = await testWorkers();
    const first = bench(tools, store);
    const scripts = createScripts({ store, clock: systemClock, workers: own });
    const waits = scripts.run(SCRIPT, first.request({ host: legacyHost((_m, _p, signal) => untilAborted(signal)) }));
    await expect.poll(async () => (await store.list('script-waiting')).length).toBe(1);
    await scripts.close();
    expect((await waits).result.error?.code).toBe('CANCELLED');
    const host = legacyHost(async () => ({ action: 'accept', content: 'Ann' }));
    expect(await bench(tools, store).run(SCRIPT, { host })).toMatchObject({
      success: true,
      note: expect.stringContaining('went on'),
    });
    expect(first.made.map(({ tool }) => tool)).toEqual(['echo', 'ask']);
  });
});
