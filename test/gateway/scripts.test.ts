import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { viewerOf, type Gateway } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import type { AuditRecord } from '../../src/model/audit-record.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { connectHost, serveOverHttp } from '../support/mcp-host.js';
import { callMark, openToolscout, textOf } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';
import { scriptedServer, scriptedTool } from '../support/scripted-server.js';

const run = (script: string, more: JsonObject = {}): JsonObject => ({
  name: 'run_script',
  arguments: { script, ...more },
});

const HOSTS = [
  { era: 'legacy', over: 'stdio' },
  { era: 'modern', over: 'stdio' },
  { era: 'legacy', over: 'http' },
  { era: 'modern', over: 'http' },
] as const;

const recordsOf = (gateway: Gateway, kind: string): Promise<AuditRecord[]> => gateway.audit.list({ kind });

describe('scripts of hosts', STARTS_PROCESSES, () => {
  for (const { era, over } of HOSTS) {
    it(`CODE-1 CODE-4 CODE-5 run_script calls tools and asks the user for a ${era} host over ${over}`, async () => {
      const gateway = await openToolscout({
        scripts: true,
        servers: { old: fixture('legacy'), asks: fixture('asking'), modern: fixture('asking', '--modern') },
      });
      const host = await connectHost(gateway, { era, over });
      const { tools } = await host.client.listTools();
      expect(tools.map(({ name }) => name)).toContain('run_script');
      const script = `
        const sums = await Promise.all([1, 2, 3].map((a) => tools.old.add({ a, b: 10 })));
        const first = await tools.asks.elicit({ message: 'one' });
        const second = await tools.modern.elicit_twice({ message: 'two' });
        const sampled = await tools.modern.sample({ prompt: 'three' });
        const roots = await tools.asks.roots();
        return { sums, first, second, sampled, roots };
      `;
      const answer = await host.client.callTool({ name: 'run_script', arguments: { script } });
      expect(JSON.parse(textOf(answer as JsonObject))).toMatchObject({
        sums: [{ sum: 11 }, { sum: 12 }, { sum: 13 }],
        first: { action: 'accept', content: { name: 'Ann for one' } },
        second: 'Ann for two 1 and Ann for two 2',
        sampled: expect.stringContaining('sampled: SAMPLED'),
        roots: { roots: [{ uri: 'file:///home/ann' }] },
      });
      expect(host.asked.map(({ method }) => method)).toEqual([
        'elicitation/create',
        'elicitation/create',
        'elicitation/create',
        'sampling/createMessage',
        'roots/list',
      ]);
      const records = await recordsOf(gateway, 'script');
      const record = records.find(({ parent }) => parent === undefined);
      expect(record).toMatchObject({ outcome: 'success', route: 'mcp', detail: { calls: 7 } });
      expect(record!.askedMs).toBeGreaterThan(0);
      expect(record!.askedMs).toBeLessThan(record!.latencyMs!);
      // A host of the older era is asked on its connection; any other is asked by the answer to its call.
      const suspended = records.filter(({ parent }) => parent === record!.id);
      expect(suspended).toHaveLength(era === 'modern' ? 5 : 0);
      for (const { detail } of suspended) expect(detail).toMatchObject({ suspended: true });
      const calls = await recordsOf(gateway, 'execution');
      expect(calls.every(({ parent }) => parent === record!.id)).toBe(true);
    });
  }

  it('CODE-4 every call passes the checks of a call, and the host hears how far it is', async () => {
    const gateway = await openToolscout({
      scripts: true,
      toolRules: [{ pattern: 'old:fail', enabled: false }],
      servers: { old: fixture('legacy') },
    });
    const host = await connectHost(gateway, { era: 'modern', over: 'stdio' });
    const codes = `
      const codes = [];
      for (const call of [() => tools.old.fail({}), () => tools.old.add({ a: 'x' }), () => tools.nowhere.add({}), () => tools.old.nothing()]) {
        try { await call() } catch (error) { codes.push(error.code, error.suggestion.includes('toolscout ')) }
      }
      return codes;
    `;
    const told: Array<{ message?: string }> = [];
    const answer = await host.request('tools/call', run(codes), { onprogress: (step) => told.push(step) });
    expect(JSON.parse(textOf(answer))).toEqual([
      'TOOL_DISABLED',
      false,
      'TOOL_VALIDATION_ERROR',
      false,
      'SERVER_NOT_FOUND',
      false,
      'TOOL_NOT_FOUND',
      false,
    ]);
    expect(told.map(({ message }) => message)).toEqual([
      '1: old:fail',
      '2: old:add',
      '3: nowhere:add',
      '4: old:nothing',
    ]);
  });

  it('CODE-1 a name that needs brackets may be written with a dot, unless it could be several', async () => {
    const tools = ['get-sum', 'get.twin', 'get-twin', 'plain'].map((name) => scriptedTool(name));
    const called: string[] = [];
    const { url } = await scriptedServer({
      answer(method, params) {
        if (method === 'tools/call') called.push(String(params['name']));
        return method === 'tools/list' ? { result: { tools } } : undefined;
      },
    });
    const gateway = await openToolscout({ servers: { 'my-notes': { url } } });
    await gateway.servers.discover();
    const { success } = await gateway.run('await tools.my_notes.get_sum(); await tools["my-notes"].plain(); return 1');
    expect(success).toBe(true);
    expect(called).toEqual(['get-sum', 'plain']);
    const several = await gateway.run('await tools.my_notes.get_twin()');
    expect(several.error).toMatchObject({ call: { code: 'TOOL_NOT_FOUND' } });
    const limited = gateway.as(viewerOf({ name: 'bob', scopes: new Set(['call']), servers: new Set(['other']) }));
    const hidden = await limited.run('await tools.my_notes.get_sum()');
    expect(hidden.error?.message).toContain('my_notes');
    expect(hidden.error?.message).not.toContain('my-notes');
    expect(called).toHaveLength(2);
  });

  it('CODE-6 names the calls that may have changed something, the shape of the last answer, and what was not awaited', async () => {
    const gateway = await openToolscout({ scripts: true, servers: { old: fixture('legacy') } });
    const host = await connectHost(gateway, { era: 'modern', over: 'http' });
    const said = async (script: string): Promise<string> => textOf(await host.request('tools/call', run(script)));
    const failed = JSON.parse(
      await said('const { sums } = await tools.old.add({ a: 1, b: 2 });\nreturn sums[0]'),
    ) as JsonObject;
    expect(failed['message']).toContain('The last answer, of old:add, is {sum: number}.');
    expect(failed['message']).toContain('1 call took effect before that: old:add.');
    expect(failed['suggestion']).toContain('Leave out what took effect');
    expect(await said('return await tools.old.add({ a: 1, b: 2 }).sum')).toContain('The script returned undefined.');
    expect(await said('async () => { return 1 }')).toContain('Send the body of the function itself');
    expect(await said('1')).toContain('Use return');
    const unknown = await host.request('tools/call', { name: 'run_script', arguments: { code: 'return 1' } });
    expect(textOf(unknown)).toContain('Unknown argument \\"code\\"; run_script needs');
    const direct = textOf(await host.request('tools/call', { name: 'read_result', arguments: {} }));
    expect(direct).toContain('list_mcp_servers, list_tools, run_script.');
    expect(direct).toContain('Call it with execute_tool: server \\"toolscout\\", tool \\"read_result\\".');
    const nothing = textOf(await host.request('tools/call', { name: 'no_such', arguments: {} }));
    expect(nothing).toContain('Call a tool of a server with execute_tool.');
    expect(await said('return [tools.old.add({ a: 1, b: 2 })]')).toContain('value[0] is a promise');
  });

  it('CODE-2 details tell what a call gives where scripts are on', async () => {
    const details = { name: 'get_tool_details', arguments: { server: 'old', tool: 'add' } };
    for (const scripts of [true, false]) {
      const gateway = await openToolscout({ scripts, servers: { old: fixture('legacy') } });
      const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
      const shown = JSON.parse(textOf(await host.request('tools/call', details))) as JsonObject;
      expect(shown['returns']).toBe(scripts ? '{ sum: number; }' : undefined);
    }
  });

  it('CODE-3 CODE-4 a hostile server reaches nothing through a script, and its answers are data', async () => {
    const gateway = await openToolscout({
      scripts: { memoryBytes: 8 << 20 },
      servers: { hostile: { ...fixture('hostile'), timeoutMs: 2000 } },
    });
    const script = `
      const { hostile } = tools;
      const polluted = await hostile.pollute({}, { raw: true });
      const answers = [
        Object.keys(polluted).includes('__proto__'),
        ({}).polluted ?? null,
        await hostile.twice(),
        await hostile['constructor']({ message: 'x' }),
        await tools['hostile:toString']({ message: 'y' }),
      ];
      for (const call of [() => hostile.disguised(), () => hostile.big({ bytes: 6e6 }), () => hostile.wrong_id()]) {
        try { await call(); answers.push('ran') } catch (error) { answers.push(error.code) }
      }
      return answers;
    `;
    expect(await gateway.run(script)).toMatchObject({
      value: [
        true,
        null,
        'first answer',
        'x',
        'y',
        'APPROVAL_REQUIRED',
        'SCRIPT_LIMIT_EXCEEDED',
        'TOOL_EXECUTION_TIMEOUT',
      ],
    });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it('CODE-3 other calls go on while a script computes', async () => {
    const gateway = await openToolscout({ scripts: { computeMs: patient(3000) }, servers: { old: fixture('legacy') } });
    await gateway.call('old', 'echo', { message: 'warm' });
    let hasEnded = false;
    const script = gateway.run('while (true) {}').finally(() => (hasEnded = true));
    for (let at = 0; at < 50; at++) expect((await gateway.call('old', 'echo', { message: 'x' })).success).toBe(true);
    expect(hasEnded).toBe(false);
    expect((await script).error?.code).toBe('SCRIPT_LIMIT_EXCEEDED');
  });

  it('CODE-4 a caller who sees only some servers reaches only those in a script', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy'), other: fixture('legacy') } });
    const limited = gateway.as(viewerOf({ name: 'ann', scopes: new Set(['call']), servers: new Set(['old']) }));
    const script =
      'const ok = await tools.old.add({ a: 1, b: 1 }); try { await tools.other.add({ a: 1, b: 1 }) } catch (e) { return [ok.sum, e.code] }';
    expect((await limited.run(script)).value).toEqual([2, 'SERVER_NOT_FOUND']);
    const [record] = await recordsOf(gateway, 'script');
    expect(record).toMatchObject({ principal: 'ann' });
  });

  it('CODE-7 a host that cancels or goes away ends the script and its calls', async () => {
    for (const leave of ['cancel', 'close'] as const) {
      const mark = await callMark();
      const gateway = await openToolscout({ scripts: true, servers: { slow: fixture('slow', mark.flag) } });
      const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
      const stop = new AbortController();
      const script = 'await tools.slow.wait({ ms: 60000 }); return 1';
      const answer = host.request('tools/call', run(script), { signal: stop.signal }).catch(() => 'gone');
      await mark.called();
      if (leave === 'cancel') stop.abort();
      else await host.close();
      expect(await answer).toBe('gone');
      await waitUntil(async () => (await recordsOf(gateway, 'script')).length === 1, { what: 'the record' });
      const [call] = await recordsOf(gateway, 'execution');
      expect(call).toMatchObject({ tool: 'wait', code: 'CANCELLED' });
      expect((await recordsOf(gateway, 'script'))[0]).toMatchObject({ outcome: 'failure', code: 'CANCELLED' });
    }
  });

  it('CODE-8 the record has the redacted text, its hash, the calls and the outcome', async () => {
    const gateway = await openToolscout({
      servers: { old: fixture('legacy') },
      redaction: [{ match: '/canary-[0-9]+/' }],
    });
    const { error } = await gateway.run(
      'await tools.old.echo({ message: "canary-1" }); throw new Error("no canary-1")',
    );
    expect(error).toMatchObject({ code: 'SCRIPT_ERROR', line: 1 });
    const [record] = await recordsOf(gateway, 'script');
    expect(record).toMatchObject({
      outcome: 'failure',
      code: 'SCRIPT_ERROR',
      message: expect.stringContaining('no ***'),
      argumentsHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      detail: { calls: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/), seed: expect.any(Array) },
    });
    expect(record!.latencyMs).toBeGreaterThan(0);
    expect(JSON.stringify(record)).toContain('tools.old.echo');
    expect(JSON.stringify(record)).not.toContain('canary-1');
  });

  it('CODE-8 scripts that may only read are refused every other call', async () => {
    const gateway = await openToolscout({
      scripts: { allow: 'read-only' },
      servers: { capable: fixture('outputs') },
    });
    const ran = async (tool: string, args = '{}'): Promise<unknown> =>
      (await gateway.run(`try { await tools.capable.${tool}(${args}) } catch (e) { return e.code } return 'ran'`))
        .value;
    expect(await ran('reset')).toBe('FORBIDDEN');
    // It says that it only reads, and its name says otherwise.
    expect(await ran('delete_all')).toBe('FORBIDDEN');
    expect(await ran('get_named', '{ name: "x" }')).toBe('ran');
  });

  it('CODE-9 the library and the HTTP API run scripts; over HTTP only where they are enabled', async () => {
    const config = { servers: { old: fixture('legacy') } };
    const gateway = await openToolscout(config);
    expect(await gateway.run('print("x"); return (await tools.old.add({ a: 1, b: 2 })).sum')).toEqual({
      success: true,
      value: 3,
      printed: ['x'],
      calls: 1,
    });
    const post = async (url: string, body: object): Promise<{ status: number; body: JsonObject }> => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${url}/v1/scripts`, { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: (await response.json()) as JsonObject };
    };
    const closed = await post(await serveOverHttp(gateway), { script: 'return 1' });
    expect(closed).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    const url = await serveOverHttp(await openToolscout({ ...config, scripts: true }));
    expect(await post(url, { script: 'return (await tools.old.add({ a: 1, b: 2 })).sum' })).toEqual({
      status: 200,
      body: { success: true, value: 3, printed: [], calls: 1 },
    });
    expect(await post(url, { script: '\n  nothing()' })).toMatchObject({
      status: 422,
      body: { code: 'SCRIPT_ERROR', line: 2, column: 3, source: 'nothing()' },
    });
    expect(await post(url, { script: 'return tools.old.echo({ message: 1 })' })).toMatchObject({
      status: 422,
      body: { call: { code: 'TOOL_VALIDATION_ERROR', server: 'old', tool: 'echo' } },
    });
    expect((await post(url, {})).status).toBe(400);
  });
});

describe('the mode code', STARTS_PROCESSES, () => {
  it('CODE-1 CODE-2 offers three tools, and declarations in search and details', async () => {
    const gateway = await openToolscout({ mode: 'code', servers: { 'o-ld': fixture('legacy') } });
    await gateway.servers.discover();
    const host = await connectHost(gateway, { era: 'modern', over: 'stdio' });
    const { tools } = await host.client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['search_tools', 'get_tool_details', 'run_script']);
    expect(host.client.getInstructions()).toContain('run_script');
    const page = JSON.stringify(await host.client.readResource({ uri: 'toolscout:quick-reference' }));
    expect([page.includes('run_script'), page.includes('execute_tool')]).toEqual([true, false]);
    const call = (name: string, args: JsonObject): Promise<JsonObject> =>
      host.request('tools/call', { name, arguments: args });
    const found = JSON.parse(textOf(await call('search_tools', { query: 'add two numbers' }))) as {
      hits: JsonObject[];
    };
    expect(found.hits[0]).toMatchObject({
      declaration: expect.stringMatching(
        /^tools\["o-ld"\]\.add\(args: \{ a: number; b: number; \}\): Promise<\{ sum: number;? ?\}>;$/,
      ),
    });
    const details = textOf(await call('get_tool_details', { server: 'o-ld', tool: 'add' }));
    expect(details).toMatch(/^\/\*\* .* \*\/\ntools\["o-ld"\]\.add\(args: \{/);
    expect(JSON.parse(textOf(await call('get_tool_details', { server: 'o-ld', tool: 'ad' })))).toMatchObject({
      code: 'TOOL_NOT_FOUND',
    });
    expect(
      JSON.parse(textOf(await call('execute_tool', { server: 'o-ld', tool: 'add', arguments: {} }))),
    ).toMatchObject({
      code: 'TOOL_NOT_FOUND',
      suggestion: expect.stringContaining('run_script'),
    });
    expect(textOf(await call('run_script', { script: '' }))).toContain('returned nothing');
    expect(JSON.parse(textOf(await call('run_script', {})))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(JSON.parse(textOf(await call('run_script', { script: 'return 1', timeoutMs: 'x' })))).toMatchObject({
      code: 'INVALID_REQUEST',
    });
  });

  it('CODE-3 ANS-1 a large value is kept, and a script reads on in it', async () => {
    for (const mode of ['code', 'meta'] as const) {
      const gateway = await openToolscout({ mode, scripts: true, servers: { old: fixture('legacy') } });
      const host = await connectHost(gateway, { era: 'modern', over: 'stdio' });
      const rows = 'Array.from({ length: 5000 }, (_, n) => ({ n, name: `row ${n}` }))';
      const text = textOf(await host.request('tools/call', run(`return ${rows}`)));
      expect(countTokens(text)).toBeLessThanOrEqual(8000);
      expect(text).toContain(mode === 'code' ? 'tools.toolscout.read_result(' : 'execute_tool, server "toolscout"');
      const [handle] = /res_[\w-]+/.exec(text)!;
      const script = `return (await tools.toolscout.search_result({ handle: '${handle}', query: 'row 4321' }))`;
      expect(textOf(await host.request('tools/call', run(script)))).toContain('row 4321');
      // What a call gives inside of a script is never cut.
      const inner = 'return (await tools.old.echo({ message: "x".repeat(200000) })).length';
      expect(textOf(await host.request('tools/call', run(inner)))).toBe('200000');
    }
  });

  it('CODE-1 a host that may not run scripts has no run_script', async () => {
    const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
    const host = await connectHost(gateway, { era: 'legacy', over: 'stdio' });
    expect((await host.client.listTools()).tools.map(({ name }) => name)).not.toContain('run_script');
    const answer = await host.request('tools/call', run('return 1'));
    expect(JSON.parse(textOf(answer))).toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });
});

describe('suspended scripts of hosts', STARTS_PROCESSES, () => {
  it('CODE-5 a second process over the same store goes on, only for the same principal, and never twice', async () => {
    const stateDir = await temporaryDirectory();
    const config = { scripts: true, servers: { asks: fixture('asking', '--modern') } };
    const script = "const a = await tools.asks.elicit({ message: 'who' }); return a.content.name";
    const options = {
      host: {
        id: 'h',
        era: 'modern' as const,
        capabilities: { elicitation: {} },
        request: () => Promise.reject(new Error('no')),
        notify: () => undefined,
      },
    };
    const first = await openToolscout(config, { stateDir });
    const { suspended } = await first.run(script, options);
    const [key] = Object.keys(suspended!.inputRequests);
    const resumed = {
      requestState: suspended!.state,
      inputResponses: { [key!]: { action: 'accept', content: { name: 'Ann' } } },
    };
    const second = await openToolscout(config, { stateDir });
    const other = second.as(viewerOf({ name: 'bob', scopes: new Set(['call']) }));
    await expect(other.run(script, { ...options, resumed })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
    expect(await second.run(script, { ...options, resumed })).toMatchObject({ success: true, value: 'Ann' });
    await expect(first.run(script, { ...options, resumed })).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });
});
