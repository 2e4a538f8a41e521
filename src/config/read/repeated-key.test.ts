import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseConfig } from './parse.js';
import { findRepeatedKey } from './repeated-key.js';

describe('a key that is given twice', () => {
  it.each([
    ['{"a":1,"a":2}', 7],
    ['{"servers": {"x": {"command": "a"}, "y": {}, "x": {}}}', 45],
    ['{"a":1,"\\u0061":2}', 7],
    ['[{"a":1},{"b":{"c":1,"c":1}}]', 21],
    ['{"a": "{\\"a\\":", /* "a": */ "b": 1, // "a":\n "a" : 3}', 45],
    ['{"__proto__":1,"__proto__":2}', 15],
  ])('CFG-3 is found: %s', (text, at) => {
    expect(findRepeatedKey(text)).toBe(at);
  });

  it.each([
    '',
    '{}',
    '[]',
    '"a"',
    '1',
    '{"a":{"a":{"a":[{"a":1},{"a":1}]}},"b":"a"}',
    '{"a":["a","a"]}',
    '// {"a":1,"a":2}',
  ])('CFG-3 finds none in: %s', (text) => {
    expect(findRepeatedKey(text)).toBeUndefined();
  });

  it('CFG-3 is never seen in what was written from data', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.boolean(), (value, spaced) => {
        expect(findRepeatedKey(JSON.stringify(value, null, spaced ? 2 : 0))).toBeUndefined();
      }),
    );
  });

  it('CFG-3 is named with its place in a config, as in YAML and TOML', async () => {
    const twice = '{\n  "servers": {\n    "a": { "command": "x" },\n    "a": { "command": "y" }\n  }\n}\n';
    for (const path of ['/c/config.json', '/c/config.jsonc']) {
      await expect(parseConfig(twice, path)).rejects.toMatchObject({
        code: 'CONFIGURATION_ERROR',
        problems: [{ path: 'line 4, column 5', message: 'not valid JSON: this key is given twice' }],
      });
    }
    await expect(parseConfig('a: 1\na: 2\n', '/c/config.yaml')).rejects.toThrow('this key is given twice');
    await expect(parseConfig('a = 1\na = 2\n', '/c/config.toml')).rejects.toMatchObject({
      code: 'CONFIGURATION_ERROR',
    });
  });
});
