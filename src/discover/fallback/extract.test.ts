import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractAnswer, extractTools } from './extract.js';

const SCHEMA = { type: 'object', properties: { name: { type: 'string', description: 'Whose' } }, required: ['name'] };
const GREET = { name: 'greet', description: 'Says hello', inputSchema: SCHEMA };
const LEAVE = { name: 'leave', description: 'Says goodbye' };

describe('the answer to a plain tools/list', () => {
  it.each([
    ['in the usual order', JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [GREET, LEAVE] } })],
    ['with the result first', JSON.stringify({ result: { tools: [GREET, LEAVE] }, id: 1, jsonrpc: '2.0' })],
    ['over several lines', JSON.stringify({ id: 1, jsonrpc: '2.0', result: { tools: [GREET, LEAVE] } }, null, 2)],
    [
      'after a banner',
      `Server "x" started {ok}\n${JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [GREET, LEAVE] } })}\nbye`,
    ],
  ])('DISC-6 is found %s', (_how, stdout) => {
    expect(extractAnswer(stdout, 1)).toEqual({ strategy: 'plain-list', items: [GREET, LEAVE] });
  });

  it('DISC-6 is not an answer to another question, nor an error, nor something printed that only looks alike', () => {
    for (const other of [
      { jsonrpc: '2.0', id: 2, result: { tools: [GREET] } },
      { jsonrpc: '2.0', id: 1, error: { code: -32_600, message: 'initialize first' } },
      { jsonrpc: '2.0', id: 1, result: { tools: [] } },
      { id: 1, result: { tools: [GREET] } },
      { jsonrpc: '2.0', id: '1', result: { tools: [GREET] } },
    ]) {
      expect(extractAnswer(JSON.stringify(other), 1)).toBeUndefined();
    }
  });
});

describe('what is read out of printed text', () => {
  it('DISC-6 functions in the OpenAI format, wrapped or not, keep names, descriptions and schemas', () => {
    const plain = { functions: [{ name: 'greet', description: 'Says hello', parameters: SCHEMA }, LEAVE] };
    expect(extractTools(`ready\n${JSON.stringify(plain)}`)).toEqual({ strategy: 'functions', items: [GREET, LEAVE] });
    const wrapped = { functions: [{ type: 'function', function: { name: 'greet', parameters: SCHEMA } }] };
    expect(extractTools(JSON.stringify(wrapped, null, 2))!.items).toEqual([{ name: 'greet', inputSchema: SCHEMA }]);
  });

  it('DISC-6 a tools array is read, also inside a result, and snake case is understood', () => {
    for (const printed of [{ tools: [GREET] }, { result: { tools: [GREET] } }, { tools: [{ ...GREET, extra: 1 }] }]) {
      expect(extractTools(JSON.stringify(printed))).toMatchObject({ strategy: 'tools', items: [GREET] });
    }
    const snake = { tools: [{ name: 'greet', input_schema: SCHEMA }, 'leave'] };
    expect(extractTools(JSON.stringify(snake))!.items).toEqual([
      { name: 'greet', inputSchema: SCHEMA },
      { name: 'leave' },
    ]);
  });

  it('DISC-6 DISC-7 a list that was cut off gives the entries that were printed whole', () => {
    const whole = JSON.stringify({ tools: [GREET, LEAVE, { name: 'third', description: 'Never finished' }] });
    expect(extractTools(whole.slice(0, whole.indexOf('Never')))).toEqual({ strategy: 'tools', items: [GREET, LEAVE] });
    const pretty = JSON.stringify({ functions: [GREET, LEAVE] }, null, 2);
    expect(extractTools(pretty.slice(0, pretty.indexOf('goodbye')))!).toEqual({
      strategy: 'functions',
      items: [GREET],
    });
  });

  it('DISC-6 one object a line is a tool, a line of a log is not', () => {
    const log = JSON.stringify({ level: 30, time: 1, pid: 5, hostname: 'h', name: 'my-server', msg: 'listening' });
    const text = [log, JSON.stringify(GREET), '[info] starting', `  ${JSON.stringify(LEAVE)}`].join('\n');
    expect(extractTools(text)).toEqual({ strategy: 'json-lines', items: [GREET, LEAVE] });
    expect(extractTools(log)).toBeUndefined();
  });

  it('DISC-6 pairs are read outside schemas only, with the description beside them', () => {
    const text = `tools = [
      {"name": "greet", "description": "Says \\"hello\\"", inputSchema: {"properties": {"name": "person_name"}}},
      {"function": "leave", args: []},
      "inputSchema": {"name": "not_a_tool", "properties": {"x": {"name": "nor_this"}}}
    ]`;
    expect(extractTools(text)).toEqual({
      strategy: 'pairs',
      items: [{ name: 'greet', description: 'Says "hello"' }, { name: 'leave' }],
    });
    expect(extractTools('{"serverInfo": {"name": "my_server", bad}')).toBeUndefined();
  });

  it('DISC-6 prose gives what looks like a tool, and not what only has an underscore', () => {
    const text = `Loaded node_modules from /usr/lib/read_file/x, x86_64, utf_8, my_var=1
Available tools:
  - read_file: Reads a file
  * list_directory (path) - Lists a directory
  3. search: Searches
You may ask for create_issue or send_message. The function tidy_up is new.`;
    expect(extractTools(text)).toEqual({
      strategy: 'identifiers',
      items: [
        { name: 'read_file', description: 'Reads a file' },
        { name: 'list_directory', description: 'Lists a directory' },
        { name: 'search', description: 'Searches' },
        { name: 'create_issue' },
        { name: 'send_message' },
        { name: 'tidy_up' },
      ],
    });
    expect(extractTools('')).toBeUndefined();
    expect(extractTools('Server started on port 3000\n')).toBeUndefined();
  });

  it('DISC-6 the trace of a crash names functions, not tools', () => {
    const javascript = `node:internal/deps/undici/undici:14976
      call(get_error_of(request));
            ^

TypeError: fetch failed in list_sections
    at async fetch_with_timeout (file:///srv/handlers.mjs:1378:10)
    at async get_sections (file:///srv/handlers.mjs:1386:19)
Node.js v20.20.2`;
    const python = `Traceback (most recent call last):
  File "/srv/server.py", line 3, in load_config
    return read_config(open_file("x"))
           ^^^^^^^^^^^^^^^^^^^^^^^^^^^
NameError: name 'read_config' is not defined`;
    expect(extractTools(javascript)).toBeUndefined();
    expect(extractTools(python)).toBeUndefined();
    expect(extractTools(`You may call read_file.\n${python}`)!.items).toEqual([{ name: 'read_file' }]);
  });

  it('DISC-6 of two entries with one name the one that says more is kept', () => {
    expect(extractTools(`${JSON.stringify({ name: 'greet' })}\n${JSON.stringify(GREET)}`)!.items).toEqual([GREET]);
  });

  it('A27 names of the language itself are names like any other', () => {
    const { items } = extractTools('{"tools":[{"name":"__proto__","description":"x"},{"name":"toString"}]}')!;
    expect(items.map(({ name }) => name)).toEqual(['__proto__', 'toString']);
    expect(({} as Record<string, unknown>)['description']).toBeUndefined();
  });

  it('A28 hostile text is read in one pass: nothing throws, nothing takes for ever', () => {
    for (const text of [
      '{'.repeat(1_000_000),
      '[{"tools":['.repeat(100_000),
      '"'.repeat(500_001),
      '{"a":'.repeat(200_000) + '1' + '}'.repeat(200_000),
      '"name": "'.repeat(100_000),
      'a_'.repeat(500_000),
      `- ${'x'.repeat(1_000_000)}`,
      '\\"'.repeat(300_000),
    ]) {
      expect(() => extractTools(text)).not.toThrow();
    }
  });

  it('A24 A28 many small objects and long names are read in one pass', () => {
    expect(extractTools('{}'.repeat(500_000))).toBeUndefined();
    expect(extractTools(`a${'_a'.repeat(950)}=\n`.repeat(1000))).toBeUndefined();
    // The list itself is read, however many objects stand in it.
    const padding = '{},'.repeat(150_000);
    expect(extractTools(`{"tools":[{"name":"greet","x":[${padding}{}]}]}`)?.items).toHaveLength(1);
  });

  it('R15 whatever is printed, the answer is tools with names, or nothing', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.json(),
      fc.constantFrom('{"tools":[', '{"name":"', '"}', ']}', '\n', '"function": "x_y"', JSON.stringify(GREET)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const extracted = extractTools(pieces.join(''));
        for (const item of extracted?.items ?? []) expect(item['name']).toEqual(expect.stringMatching(/./s));
      }),
    );
  });
});
