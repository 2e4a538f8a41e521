import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/kernel/clock.js';
import type { CallResult } from '../../src/model/call.js';
import type { ScriptCall } from '../../src/scripts/script-call.js';
import { createScripts } from '../../src/scripts/scripts.js';
import { createMemoryStore } from '../../src/store/index.js';
import { countTrials, formOf } from '../support/long-form.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { testWorkers } from '../support/script-workers.js';

const PROGRAMS = formOf(60, 1000);
const workers = await testWorkers();

/** Random numbers that are the same each time. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A program of statements and expressions of every kind, most of which mean something. */
function createGrammar(random: (below: number) => number): () => string {
  const pick = (list: readonly string[]): string => list[random(list.length)]!;
  const names = [
    'a',
    'b',
    'c',
    'tools',
    'print',
    'globalThis',
    'Promise',
    'Object',
    'Array',
    'JSON',
    'Math',
    'Symbol',
    'Reflect',
  ];
  const keys = [
    'x',
    'then',
    '__proto__',
    'constructor',
    'prototype',
    'length',
    'toString',
    'call',
    'a',
    '0',
    'toJSON',
    'map',
  ];
  const literals = [
    '0',
    '-1',
    '1e308',
    'NaN',
    '""',
    '"text"',
    'null',
    'undefined',
    'true',
    '[]',
    '{}',
    '10n',
    '/a+/g',
    '`t`',
  ];
  const operators = ['+', '-', '*', '/', '%', '**', '===', '<', '&&', '||', '??', 'in', 'instanceof', ',', '>>>', '|'];
  const expression = (depth: number): string => {
    if (depth <= 0) return random(2) ? pick(names) : pick(literals);
    const next = (): string => expression(depth - 1 - random(2));
    const forms: ReadonlyArray<() => string> = [
      () => pick(names),
      () => pick(literals),
      () => `(${next()} ${pick(operators)} ${next()})`,
      () => `(${next()})?.${pick(keys.filter((key) => !/^\d/.test(key)))}`,
      () => `(${next()})[${JSON.stringify(pick(keys))}]`,
      () => `(${next()})(${next()})`,
      () => `new (${next()})(${next()})`,
      () => `((a, b = ${next()}) => ${next()})`,
      () => `(async (a) => { ${statement(depth - 1)} })(${next()})`,
      () => `(function* (b) { yield ${next()}; ${statement(depth - 1)} })()`,
      () => `[${next()}, ...[${next()}]]`,
      () => `{ ...(${next()}), [${next()}]: ${next()}, get x() { return ${next()} } }`.replace(/^/, '(').concat(')'),
      () => `new Proxy(${next()}, { get: (t, k) => ${next()}, ownKeys: () => [] })`,
      () => `tools[${JSON.stringify(pick(keys))}][${JSON.stringify(pick(keys))}](${next()})`,
      () => `await tools.a.echo({ x: ${next()} })`,
      () => `await tools.a.fail(${next()}).catch((b) => ${next()})`,
      () => `await (${next()})`,
      () => `typeof (${next()})`,
      () => `\`\${${next()}}\``,
      () => `Promise.all([${next()}, ${next()}])`,
      () => `JSON.stringify(${next()})`,
      () => `(class extends (${next()}) { static x = ${next()} })`,
    ];
    return forms[random(forms.length)]!();
  };
  const statement = (depth: number): string => {
    if (depth <= 0) return `${expression(1)};`;
    const forms: ReadonlyArray<() => string> = [
      () => `${expression(depth)};`,
      () => `let ${pick(['a', 'b', 'c'])}${random(1000)} = ${expression(depth)};`,
      () => `a = ${expression(depth)};`,
      () => `if (${expression(depth)}) { ${statement(depth - 1)} } else { ${statement(depth - 1)} }`,
      () => `for (let i = 0; i < ${random(5)}; i++) { ${statement(depth - 1)} }`,
      () => `for (const b of [${expression(1)}]) { ${statement(depth - 1)} }`,
      () => `for (const c in ${expression(1)}) { ${statement(depth - 1)} }`,
      () => `try { ${statement(depth - 1)} } catch (c) { ${statement(depth - 1)} } finally { ${statement(depth - 2)} }`,
      () => `while (${random(4) === 0 ? 'true' : 'false'}) { ${statement(depth - 1)} ${random(2) ? 'break;' : ''} }`,
      () => `print(${expression(depth - 1)});`,
      () => `throw ${expression(1)};`,
      () => `return ${expression(depth)};`,
      () => `(${expression(1)})[${JSON.stringify(pick(keys))}] = ${expression(depth - 1)};`,
      () => `delete globalThis[${JSON.stringify(pick(names))}];`,
    ];
    return forms[random(forms.length)]!();
  };
  return () =>
    `let a = 1, b = {}, c = [];\n${Array.from({ length: 1 + random(5) }, () => statement(3)).join('\n')}\nreturn a;`;
}

describe('random scripts', { timeout: formOf(STARTS_PROCESSES.timeout, 1_800_000) }, () => {
  it(`CODE-3 of ${PROGRAMS} random programs each ends as one of the known ends, and changes nothing of the host`, async () => {
    const scripts = createScripts({ store: createMemoryStore({ clock: systemClock }), clock: systemClock, workers });
    const callTool = async ({ server, tool, arguments: args }: ScriptCall): Promise<CallResult> => {
      if (tool !== 'fail') return { success: true, result: { content: [], structuredContent: args } };
      const remedy = { kind: 'advice', text: 'None.' } as const;
      const known = { code: 'TOOL_NOT_FOUND', message: 'No.', suggestion: 'None.', severity: 'WARNING' } as const;
      return { success: false, error: { ...known, server, tool, remedy } };
    };
    const bounds = { memoryBytes: 16 << 20, computeMs: 100, timeoutMs: 10_000, calls: 20, parallel: 4 };
    const before = Reflect.ownKeys(globalThis).concat(
      Reflect.ownKeys(Object.prototype),
      Reflect.ownKeys(Array.prototype),
    );
    const ends = new Map<string, number>();
    countTrials(PROGRAMS);
    for (let seed = 1; seed <= PROGRAMS; seed++) {
      const script = createGrammar(createRandom(seed))();
      const request = { owner: { principal: 'ann' }, record: 'r', bounds, callTool: () => callTool };
      const { result } = await scripts.run(script, request);
      const end = result.success ? 'value' : String(result.error?.code);
      expect(['value', 'SCRIPT_ERROR', 'SCRIPT_LIMIT_EXCEEDED'], `${seed}: ${script}`).toContain(end);
      expect(result.error?.message ?? '', `${seed}: ${script}`).not.toContain('sandbox failed');
      ends.set(end, (ends.get(end) ?? 0) + 1);
    }
    expect(
      Reflect.ownKeys(globalThis).concat(Reflect.ownKeys(Object.prototype), Reflect.ownKeys(Array.prototype)),
    ).toEqual(before);
    // A grammar whose programs all fail alike would show nothing.
    expect(ends.get('value') ?? 0).toBeGreaterThan(PROGRAMS / 10);
    expect(ends.get('SCRIPT_ERROR') ?? 0).toBeGreaterThan(PROGRAMS / 10);
  });
});
