import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../../kernel/errors.js';
import { parseConfig } from './parse.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { repetitions } from '../../../test/support/long-form.js';

const CANARY = 'sk-canary-4711';

async function failure(text: string, path: string): Promise<ToolscoutError> {
  const thrown: unknown = await parseConfig(text, path).then(
    (value) => new Error(`parsed to ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ToolscoutError);
  return thrown as ToolscoutError;
}

describe('parseConfig', () => {
  it.each([
    ['c.json', '\ufeff{"timeoutMs": 5, "servers": {"a": {"command": "x"}}}'],
    ['c.JSON', '{"timeoutMs": 5, "servers": {"a": {"command": "x"}}}'],
    ['c.jsonc', '{\n // five\n "timeoutMs": 5, /* one */ "servers": {"a": {"command": "x",},},\n}'],
    ['c.yaml', 'timeoutMs: 5\nservers:\n  a: {command: x}\n'],
    ['c.yml', '%YAML 1.2\n---\ntimeoutMs: 5\nservers: {a: {command: x}}\n'],
    ['c.toml', 'timeoutMs = 5\n[servers.a]\ncommand = "x"\n'],
  ])('CFG-1 reads %s', async (path, text) => {
    expect(await parseConfig(text, path)).toEqual({ timeoutMs: 5, servers: { a: { command: 'x' } } });
  });

  it.each([
    ['c.json', ' \n'],
    ['c.jsonc', '// nothing\n'],
    ['c.yaml', '# nothing\n'],
    ['c.yaml', ''],
    ['c.yaml', '---\n'],
    ['c.yaml', '# nothing\n---\n# to see\n'],
    ['c.yml', '%YAML 1.2\n---\n...\n'],
    ['c.toml', '# nothing\n'],
    ['c.jsonc', ''],
  ])('CFG-2 an empty %s is an empty config', async (path, text) => {
    expect(await parseConfig(text, path)).toEqual({});
  });

  it.each([
    ['c.json', `{\n  "timeoutMs": 5\n  "a": "${CANARY}"\n}`, 3, 3],
    ['c.json', `{\n  // comment\n  "a": "${CANARY}"\n}`, 2, 3],
    ['c.json', `{\n  "a": ${CANARY}\n}`, 2, 8],
    ['c.jsonc', `{\n  "a": "${CANARY}"\n  "b": 1\n}`, 3, 3],
    ['c.yaml', `a: 1\nb: "${CANARY}`, 2, 19],
    ['c.yaml', `a: |${CANARY}\n`, 1, 5],
    ['c.toml', `a = "x"\nb = ${CANARY}\n`, 2, 5],
    ['c.yaml', `servers:\n  a: ${CANARY}\n  b: 1\n  a: ${CANARY}\n`, 4, 3],
    ['c.yml', `{a: 1, "a": ${CANARY}}`, 1, 8],
  ])('CFG-3 a syntax error in %s has line and column and does not quote the file', async (path, text, line, column) => {
    const error = await failure(text, `/x/${path}`);
    expect(error.code).toBe('CONFIGURATION_ERROR');
    expect(error.message).toContain(`/x/${path}:${line}:${column}: `);
    expect(error.problems).toMatchObject([{ path: `line ${line}, column ${column}` }]);
    expect(error.suggestion).toBe('Correct the file at this position, then try again.');
    expect(JSON.stringify([error.message, error.problems])).not.toContain('canary');
  });

  it('CFG-3 comments in .json are explained', async () => {
    expect((await failure('{} // x', 'c.json')).message).toContain('.jsonc');
  });

  it('CFG-1 an ending that is no format is refused with the list of formats', async () => {
    expect((await failure('', 'c.ini')).message).toContain('.toml');
  });

  it.each([
    ['alias bomb', `a: &a [x,x,x,x,x,x,x,x,x,x]\n${bomb()}`],
    ['duplicate key', 'a: 1\na: 2\n'],
    ['foreign tag', 'a: !!js/function "function () {}"\n'],
    ['several documents', 'a: 1\n---\nb: 2\n'],
    ['unknown alias', 'a: *nowhere\n'],
    ['deep flow nesting', '['.repeat(1_000_000)],
    ['deep mixed nesting', 'a: '.concat('[{a: '.repeat(100_000))],
    ['deep compact nesting', '- '.repeat(500_000)],
    ['deep compact keys', '? '.repeat(500_000)],
    ['deep nesting by indentation', Array.from({ length: 1000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
    ['nesting one level over the limit', Array.from({ length: 66 }, (_, i) => `${' '.repeat(i)}a:`).join('\n')],
  ])('A30 YAML with %s is an error', async (_name, text) => {
    expect((await failure(text, 'c.yaml')).code).toBe('CONFIGURATION_ERROR');
  });

  it.each([
    ['c.json', '{"__proto__": {"polluted": 1}}'],
    ['c.jsonc', '{"__proto__": {"polluted": 1},}'],
    ['c.yaml', '__proto__: {polluted: 1}\n'],
    ['c.toml', '[__proto__]\npolluted = 1\n'],
  ])('A27 %s with __proto__ pollutes nothing and keeps the key visible', async (path, text) => {
    const value = (await parseConfig(text, path)) as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect((value as { polluted?: unknown }).polluted).toBeUndefined();
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each(['c.json', 'c.jsonc', 'c.toml'])('CFG-3 deep nesting in %s fails cleanly', async (path) => {
    const deep = path === 'c.toml' ? `a = ${'['.repeat(50_000)}` : '['.repeat(50_000);
    expect((await failure(deep, path)).code).toBe('CONFIGURATION_ERROR');
  });

  it.each([
    ['c.json', '['.repeat(65).concat(']'.repeat(65))],
    ['c.jsonc', '['.repeat(65).concat(']'.repeat(65))],
    ['c.toml', 'a = '.concat('['.repeat(64), ']'.repeat(64))],
    ['c.yaml', 'a: '.concat('['.repeat(64), ']'.repeat(64))],
  ])('CFG-3 refuses nesting one level over the limit in %s', async (path, text) => {
    expect((await failure(text, path)).message).toContain('is nested deeper than 64 levels');
    await expect(parseConfig(text.replace('[', '').replace(']', ''), path)).resolves.toBeDefined();
  });

  const valid = {
    'c.json': `{"servers": {"a": {"url": "http://x", "headers": {"A": "${CANARY}"}}}, "b": ["${CANARY}"]}`,
    'c.jsonc': `{"servers": {"a": {"headers": {"A": "${CANARY}"}}}, "b": ["${CANARY}"],}`,
    'c.yaml': `servers:\n  a:\n    headers: {A: "${CANARY}"}\n    b:\n      - ${CANARY}\n    c: |\n      ${CANARY}\n`,
    'c.toml': `[servers.a.headers]\nA = "${CANARY}"\nb = ['${CANARY}']\n`,
  };
  it('CFG-3 a damaged file never throws anything else and never leaks a value', COMPUTES_LONG, async () => {
    const damage = fc.record({
      path: fc.constantFrom(...(Object.keys(valid) as Array<keyof typeof valid>)),
      at: fc.nat(200),
      cut: fc.nat(3),
      put: fc.oneof(fc.string({ maxLength: 3 }), fc.constantFrom('"', "'", '\n', '{', ']', ': ', '|', '&', '*', '!')),
    });
    await fc.assert(
      fc.asyncProperty(damage, async ({ path, at, cut, put }) => {
        const text = valid[path].slice(0, at) + put + valid[path].slice(at + cut);
        try {
          await parseConfig(text, path);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(ToolscoutError);
          expect((thrown as Error).message).not.toContain('canary');
        }
      }),
      { numRuns: repetitions(300, 1500) },
    );
  });
});

function bomb(): string {
  const names = 'abcdefghi';
  return [...names]
    .slice(1)
    .map((name, i) => `${name}: &${name} [${Array(10).fill(`*${names[i]}`).join(',')}]\n`)
    .join('');
}
