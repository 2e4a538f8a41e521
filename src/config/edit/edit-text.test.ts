import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../kernel/json.js';
import { parseData, type DataFormat } from '../read/parse.js';
import type { Edit } from './edit.js';
import { editText } from './edit-text.js';

const edit = (text: string, format: DataFormat, ...edits: Edit[]): Promise<string> =>
  editText(text, { path: `/f.${format}`, format }, edits);

describe('editText', () => {
  it('CLI-3 JSON with comments keeps them, its indent and its line ends', async () => {
    const text =
      '// mine\r\n{\r\n\t"a": 1, // one\r\n\t"mcpServers": {\r\n\t\t"x": { "command": "x" }, // x\r\n\t},\r\n}\r\n';
    const out = await edit(text, 'jsonc', { keys: ['mcpServers', 'toolscout'], value: { command: 'n' } });
    for (const kept of ['// mine\r\n', '"a": 1, // one', '"x": { "command": "x" }, // x']) expect(out).toContain(kept);
    expect(out).toContain('\r\n\t\t"toolscout": { "command": "n" },\r\n\t},');
    expect(out.replaceAll('\r\n', '')).not.toContain('\n');
    const back = await edit(out, 'jsonc', { keys: ['mcpServers', 'toolscout'] });
    expect(await parseData(back, 'x', 'jsonc')).toEqual(await parseData(text, 'x', 'jsonc'));
    expect(back).toContain('// mine');
  });

  it('STUDIO-8 a new field of JSON stands behind the others, on one line where they do', async () => {
    const a = { keys: ['servers', 'a'], value: { command: 'node', args: ['a'] } };
    const b = { keys: ['servers', 'b'], value: { command: 'b' } };
    const short =
      '{\n  "servers": {\n    "x": { "command": "x" },\n    "y": {"command":"y"}\n  },\n  "mode": "meta"\n}\n';
    expect(await edit(short, 'json', a, b)).toBe(
      short.replace(
        '{"command":"y"}',
        '{"command":"y"},\n    "a": { "command": "node", "args": ["a"] },\n    "b": { "command": "b" }',
      ),
    );
    const long = '{\n  "servers": {\n    "x": {\n      "command": "x"\n    }\n  }\n}\n';
    expect(await edit(long, 'json', b)).toBe(
      long.replace('"x"\n    }', '"x"\n    },\n    "b": {\n      "command": "b"\n    }'),
    );
    // Whose remark it is cannot be known: then it comes first.
    const remark = '{\n  "servers": {\n    "x": { "command": "x" }\n    // about x\n  }\n}\n';
    expect(await edit(remark, 'jsonc', b)).toContain('"servers": {\n    "b": {');
    // A comma in a remark separates nothing.
    for (const comment of ['// one, two', '/* one, two */']) {
      const told = `{\n  "servers": {\n    "x": { "command": "x" } ${comment}\n  }\n}\n`;
      const out = await edit(told, 'jsonc', b);
      expect(out).toContain(`"x": { "command": "x" }, ${comment}\n    "b": { "command": "b" }\n`);
    }
    expect(await edit('{ "servers": { "x": {} } }', 'json', b)).toBe(
      '{ "servers": { "x": {}, "b": { "command": "b" } } }',
    );
    const mixed = '{ "servers": { "x": {"args":["1","2"]},\n "y": {"command":"y"}},\n "mode": "meta" }\n';
    expect(await edit(mixed, 'json', b)).toBe(
      mixed.replace('{"command":"y"}', '{"command":"y"}, "b": { "command": "b" }'),
    );
  });

  it('CLI-3 YAML keeps remarks, order and style of what it does not touch', async () => {
    const text = '# top\nb: 1   # one\nlist:\n- name: a  # first\nextensions:\n  z: {type: builtin}\n# end\n';
    const out = await edit(
      text,
      'yaml',
      { keys: ['extensions', 'toolscout'], value: { cmd: 'x', args: ['a b'] } },
      { keys: ['list', 1], value: { name: 'toolscout' } },
    );
    for (const kept of ['# top\n', '# one', '# first', '# end', '\n- name: a', '\n- name: toolscout']) {
      expect(out).toContain(kept);
    }
    expect(out).toMatch(/z: \{ ?type: builtin ?\}/);
  });

  it('STUDIO-8 YAML stays to the last space where an edit changes nothing', async () => {
    const text = [
      '# mine',
      'servers:',
      '  a: { command: node, args: [a.mjs, --x] }   # first',
      '',
      '',
      '  b: {command: b}',
      '  long: { command: node, args: [',
      '    one,',
      '    two ] }',
      'toolRules:',
      '  - { pattern: "a:delete_*", enabled: false }',
      '  - { pattern: "b:write", confirm: true } # ask',
      'http: { port: 1 }',
      '',
    ].join('\n');
    const rules = [
      { pattern: ['a:delete_*', '!a:delete_one'], enabled: false },
      { pattern: 'b:write', confirm: true },
    ];
    for (const ends of ['\n', '\r\n']) {
      const file = text.replaceAll('\n', ends);
      const lines = file.split('\n');
      const except = await edit(file, 'yaml', { keys: ['toolRules'], value: rules });
      expect(except.split('\n').filter((line) => !lines.includes(line))).toEqual([
        `  - { pattern: [ a:delete_*, "!a:delete_one" ], enabled: false }${ends.slice(0, -1)}`,
      ]);
      expect(except.split('\n')).toHaveLength(lines.length);
      const added = await edit(file, 'yaml', { keys: ['servers', 'c'], value: { command: 'c' } });
      expect(added).toBe(file.replace(`toolRules:`, `  c:${ends}    command: c${ends}toolRules:`));
      expect(await edit(added, 'yaml', { keys: ['servers', 'c'] })).toBe(file);
      const both = await edit(file, 'yaml', { keys: ['servers', 'b'] }, { keys: ['http', 'port'], value: 2 });
      expect(both).toContain('args: [a.mjs, --x] }   # first');
      expect(both).toContain(`args: [${ends}    one,${ends}    two ] }`);
    }
  });

  it('CLI-3 TOML gets and loses a whole table; everything else stays byte for byte', async () => {
    const text =
      '# top\nmodel = "x" # m\n\n[mcp_servers.a] # a\ncommand = "a"\n\n# about b\n[mcp_servers.b]\nurl = "u"\n';
    const keys = ['mcp_servers', 'toolscout'];
    const out = await edit(text, 'toml', { keys, value: { command: 'n', args: ['x"y', '\\'] } });
    expect(out.startsWith(text)).toBe(true);
    expect(await edit(out, 'toml', { keys })).toBe(text);
    const deep = await edit(text, 'toml', { keys: ['mcp_servers', 'a b.c'], value: { command: 'n', env: { K: 'v' } } });
    expect(deep.startsWith(text)).toBe(true);
    expect(deep).toContain('[mcp_servers."a b.c".env]');
    const middle = text.replace(
      '# about b',
      '[mcp_servers.toolscout]\ncommand = "o"\n[mcp_servers.toolscout.env]\nA = "1"\n\n# about b',
    );
    expect(await edit(middle, 'toml', { keys })).toBe(text);
    const braces = await edit('mcp_servers = { a = { command = "a" } }\n', 'toml', { keys, value: { command: 'n' } });
    expect(braces).toBe('mcp_servers = { a = { command = "a" }, toolscout = { command = "n" } }\n');
  });

  it.each([
    ['json', '{"a": '],
    ['jsonc', '{"a": 1 "b": 2}'],
    ['yaml', 'a: [1\n'],
    ['toml', 'a = '],
    ['json', '[1, 2]'],
    ['yaml', 'just text'],
    ['json', '{"mcpServers": "no table"}'],
    ['json', '{"mcpServers": 7}'],
  ] as const)('CLI-3 refuses a %s file that cannot be read or not be changed: %s', async (format, text) => {
    const value = { command: 'x' };
    await expect(edit(text, format, { keys: ['mcpServers', 'toolscout'], value })).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
      suggestion: expect.not.stringContaining('--dry-run') as string,
    });
  });

  it('CLI-3 a mark at the beginning of the file stays, and an empty file is a beginning', async () => {
    const out = await edit('\ufeff{ "a": 1 }', 'json', { keys: ['b'], value: 2 });
    expect(out.startsWith('\ufeff{')).toBe(true);
    for (const format of ['json', 'jsonc', 'yaml', 'toml'] as const) {
      const made = await edit('', format, { keys: ['m', 'x'], value: { c: 'd' } });
      expect(await parseData(made, 'x', format)).toEqual({ m: { x: { c: 'd' } } });
    }
  });

  it('CLI-3 whatever stands in a file, an edit changes that one value and nothing else', async () => {
    // JSON writes a negative zero as 0, YAML as -0.
    const value = fc.jsonValue({ maxDepth: 2 }).map((made) => JSON.parse(JSON.stringify(made)) as JsonValue);
    const tables = fc.dictionary(fc.string(), value, { maxKeys: 4 });
    await fc.assert(
      fc.asyncProperty(tables, value, fc.constantFrom('json', 'yaml'), async (data, put, format) => {
        const { stringify } = await import('yaml');
        const text = format === 'json' ? JSON.stringify(data, null, 2) : stringify(data);
        const next = put ?? 'x';
        // Either it says exactly that, or the file was refused; it never says anything else.
        const done = await edit(text, format as DataFormat, { keys: ['k', 'l'], value: next }).catch(() => undefined);
        if (done === undefined) return typeof data['k'] !== 'undefined' || format === 'yaml';
        const read = (await parseData(done, 'x', format as DataFormat)) as Record<string, Record<string, unknown>>;
        expect(read['k']!['l']).toEqual(JSON.parse(JSON.stringify(next)));
        for (const key of Object.keys(data))
          if (key !== 'k') expect(read[key]).toEqual(JSON.parse(JSON.stringify(data[key])));
        return true;
      }),
      { numRuns: 60 },
    );
  });
});
