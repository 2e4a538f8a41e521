import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonValue } from '../../kernel/json.js';
import { diffLinesOf } from '../../../test/support/changed-lines.js';
import { parseData, type DataFormat } from '../read/parse.js';
import { editText } from './edit-text.js';
import { editsBetween } from './edits-between.js';

const change = async (text: string, format: DataFormat, toolRules: JsonValue): Promise<string> => {
  const raw = (await parseData(text, 'f', format)) as Record<string, unknown>;
  return editText(text, { path: `/f.${format}`, format }, editsBetween(['toolRules'], raw['toolRules'], toolRules));
};

/** The same rules as people write them in each format, with remarks. */
const FILES: Readonly<Record<string, readonly [DataFormat, string]>> = {
  'JSON on lines': [
    'json',
    `{
  "servers": {"a": {"command": "a"}},
  "toolRules": [
    {
      "pattern": ["a:delete_*",   "a:drop_*"],
      "enabled": false
    },
    { "pattern": "a:write", "confirm": true },
    {"pattern":"b:*","enabled":false}
  ],
  "http": { "port": 1 }
}
`,
  ],
  JSONC: [
    'jsonc',
    `// mine
{
  "toolRules": [
    // never
    { "pattern": ["a:delete_*",   "a:drop_*"], "enabled": false }, // really
    // ask
    { "pattern": "a:write", "confirm": true },
    /* off */ {"pattern":"b:*","enabled":false}, // last
  ],
}
`,
  ],
  YAML: [
    'yaml',
    `toolRules:
  # never
  - pattern: [a:delete_*,   a:drop_*]
    enabled: false   # really
  # ask
  - {pattern: "a:write", confirm: true}
  - pattern: b:*
    enabled: false # last
`,
  ],
  TOML: [
    'toml',
    `# mine
port = 1

# never
[[toolRules]]
pattern = ["a:delete_*",   "a:drop_*"]
enabled = false   # really

# ask
[[toolRules]]
pattern = "a:write"
confirm = true

[[toolRules]] # last
pattern = 'b:*'
enabled = false
`,
  ],
  'TOML in brackets': [
    'toml',
    `toolRules = [
  # never
  { pattern = ["a:delete_*",   "a:drop_*"], enabled = false }, # really
  { pattern = "a:write", confirm = true },
  {pattern='b:*',enabled=false}
]
`,
  ],
};

const DELETE = { pattern: ['a:delete_*', 'a:drop_*'], enabled: false };
const WRITE = { pattern: 'a:write', confirm: true };
const OTHERS = { pattern: 'b:*', enabled: false };

describe('the smallest edits', () => {
  it('STUDIO-8 says only what differs, from behind in lists', () => {
    expect(editsBetween(['r'], [1, 2, 3], [1, 2, 3])).toEqual([]);
    expect(editsBetween(['r'], [1, 2, 3], [0, 1, 3, 4])).toEqual([
      { keys: ['r', 3], value: 4, isNew: true },
      { keys: ['r', 1] },
      { keys: ['r', 0], value: 0, isNew: true },
    ]);
    expect(editsBetween(['r'], [{ a: 1, b: 2 }], [{ a: 1, b: 3, c: 4 }])).toEqual([
      { keys: ['r', 0, 'b'], value: 3 },
      { keys: ['r', 0, 'c'], value: 4 },
    ]);
    expect(editsBetween(['r'], undefined, [1])).toEqual([{ keys: ['r'], value: [1] }]);
    expect(editsBetween(['r'], 'x', ['x', 'y'])).toEqual([{ keys: ['r'], value: ['x', 'y'] }]);
  });

  it.each(Object.keys(FILES))('STUDIO-8 an exception for one tool changes one line of %s', async (name) => {
    const [format, text] = FILES[name]!;
    for (const ends of ['\n', '\r\n']) {
      const file = text.replaceAll('\n', ends);
      const first = await change(file, format, [
        { ...DELETE, pattern: [...DELETE.pattern, '!a:delete_one'] },
        WRITE,
        OTHERS,
      ]);
      expect(diffLinesOf(file, first)).toEqual([1, 1]);
      expect(first).toContain('!a:delete_one');
      const last = await change(file, format, [DELETE, WRITE, { ...OTHERS, pattern: ['b:*', '!b:one'] }]);
      expect(diffLinesOf(file, last)).toEqual([1, 1]);
    }
  });

  it.each(Object.keys(FILES))(
    'STUDIO-8 a rule that is new, gone or moved leaves the others of %s alone',
    async (name) => {
      const [format, text] = FILES[name]!;
      const extra = { pattern: 'a:delete_one', confirm: true };
      for (const rules of [
        [DELETE, extra, WRITE, OTHERS],
        [extra, DELETE, WRITE, OTHERS],
        [DELETE, WRITE, OTHERS, extra],
      ]) {
        const [gone, fresh] = diffLinesOf(text, await change(text, format, rules));
        // A comma, or an empty line, at the most besides the rule.
        expect(gone).toBeLessThanOrEqual(1);
        expect(fresh - gone).toBeLessThanOrEqual(4);
      }
      for (const rules of [
        [DELETE, OTHERS],
        [WRITE, OTHERS],
        [DELETE, WRITE],
        [WRITE, DELETE, OTHERS],
        [],
        [OTHERS],
        [{ ...DELETE, tags: ['x'] }, WRITE, OTHERS],
        [{ pattern: DELETE.pattern }, WRITE, OTHERS],
        [DELETE, { pattern: 'a:write', confirm: { when: 'x' } }, OTHERS],
      ] as JsonValue[]) {
        const done = await change(text, format, rules);
        expect(((await parseData(done, 'f', format)) as { toolRules?: unknown }).toolRules ?? []).toEqual(rules);
      }
    },
  );

  it('STUDIO-8 a file without rules gets them, in every format', async () => {
    for (const format of ['json', 'jsonc', 'yaml', 'toml'] as const) {
      const text =
        format === 'toml' ? '[servers.a]\ncommand = "a"' : format === 'yaml' ? 'servers: {}\n' : '{"servers": {}}';
      const done = await change(text, format, [DELETE, WRITE]);
      expect((await parseData(done, 'f', format)) as object).toMatchObject({ toolRules: [DELETE, WRITE] });
    }
  });

  it('STUDIO-8 TOML takes a field of a server where its table stands, and text of every form stays', async () => {
    const text = `[servers.a] # mine
command = """a
"# no remark" """ # odd
"quoted key".'other' = { x = 1, "y" = [ 1, # one
 2 ] }
at = 1979-05-27 07:32:00Z # time

[servers.b]
command = 'b#c'
`;
    const keys = ['servers', 'a', 'enabled'];
    const done = await editText(text, { path: '/f.toml', format: 'toml' }, [{ keys, value: false }]);
    expect(done).toBe(text.replace('# time\n', '# time\nenabled = false\n'));
    const back = await editText(done, { path: '/f.toml', format: 'toml' }, [{ keys }]);
    expect(back).toBe(text);
    const inner = ['servers', 'a', 'quoted key', 'other'];
    const two = await editText(text, { path: '/f.toml', format: 'toml' }, [
      { keys: [...inner, 'z'], value: { n: 1.5 } },
      { keys: [...inner, 'y', 1], value: 3 },
    ]);
    expect(two).toContain('"y" = [ 1, # one\n 3 ], z = { n = 1.5 } }');
    const root = await editText(text, { path: '/f.toml', format: 'toml' }, [{ keys: ['serverName'], value: 'x' }]);
    expect(root).toBe(`serverName = "x"\n${text}`);
  });

  it('STUDIO-8 whatever the rules were and are to be, a file says exactly that or is left alone', async () => {
    const word = fc.constantFrom('a:*', 'b', '!c', '#', '"', "'", ']', '{ }', 'é\\');
    const rule = fc.record(
      {
        pattern: fc.oneof(word, fc.array(word, { minLength: 1, maxLength: 3 })),
        enabled: fc.boolean(),
        tags: fc.array(word, { maxLength: 2 }),
      },
      { requiredKeys: ['pattern'] },
    );
    const rules = fc.array(rule, { maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(
        rules,
        rules,
        fc.constantFrom('json', 'yaml', 'toml'),
        fc.boolean(),
        async (before, after, format, isFlat) => {
          const yaml = await import('yaml');
          const toml = await import('smol-toml');
          const data = { first: 1, toolRules: before, z: { a: 1 } };
          const text =
            format === 'json'
              ? JSON.stringify(data, null, isFlat ? 0 : 2)
              : format === 'yaml'
                ? yaml.stringify(data, { collectionStyle: isFlat ? 'flow' : 'any' })
                : toml.stringify(data);
          const done = await change(text, format as DataFormat, after as JsonValue);
          expect(await parseData(done, 'f', format as DataFormat)).toEqual({ ...data, toolRules: after });
        },
      ),
      { numRuns: 200 },
    );
  });
});
