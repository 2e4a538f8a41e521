import { describe, expect, it } from 'vitest';
import { systemClock } from '../kernel/clock.js';
import type { CallResult } from '../model/call.js';
import type { ScriptResult } from '../model/script.js';
import { createMemoryStore } from '../store/index.js';
import { ESCAPES, EXHAUSTION } from '../../test/fixtures/scripts/escapes.js';
import { STARTS_PROCESSES } from '../../test/support/patience.js';
import { testWorkers } from '../../test/support/script-workers.js';
import type { ScriptCall } from './script-call.js';
import { createScripts } from './scripts.js';

const BOUNDS = { memoryBytes: 32 << 20, computeMs: 500, timeoutMs: 20_000, calls: 50, parallel: 8 };
const workers = await testWorkers();
const scripts = createScripts({ store: createMemoryStore({ clock: systemClock }), clock: systemClock, workers });

const calls: ScriptCall[] = [];
const callTool = async (call: ScriptCall): Promise<CallResult> => {
  calls.push(call);
  if (call.tool !== 'fail') return { success: true, result: { content: [], structuredContent: call.arguments } };
  const { server, tool } = call;
  const remedy = { kind: 'advice', text: 'None.' } as const;
  const error = {
    code: 'TOOL_NOT_FOUND',
    message: 'No.',
    server,
    tool,
    remedy,
    suggestion: 'None.',
    severity: 'WARNING',
  } as const;
  return { success: false, error };
};

const run = async (script: string, bounds = BOUNDS): Promise<ScriptResult> => {
  calls.length = 0;
  const request = { owner: { principal: 'ann' }, record: 'r', bounds, callTool: () => callTool };
  return (await scripts.run(script, request)).result;
};

/** What can be changed of the host, and must not be. */
const hostState = (): unknown => [
  ...[Object, Array, Function, String, Number, Promise, Error, Map, Set, RegExp, Date].flatMap((each) => [
    Reflect.ownKeys(each),
    Reflect.ownKeys(each.prototype as object),
  ]),
  Reflect.ownKeys(globalThis),
  Reflect.ownKeys(JSON),
  JSON.parse,
  Promise.prototype.then,
  Object.getPrototypeOf(Object.prototype),
];

/** Words that only the host has: paths, versions, modules. */
const HOST_WORDS = new RegExp(
  [
    process.version,
    process.cwd(),
    process.execPath,
    'worker_threads',
    'node:internal',
    'node_modules',
    'parentPort',
    'quickjs.wasm',
  ]
    .map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
    .join('|'),
);

const CLEAN =
  'return [Object.keys(Object.prototype), ({}).polluted ?? null, typeof leak, typeof process, JSON.stringify([1]), (await tools.a.echo({ b: 1 })).b, tools.a.echo.name]';

/** The next script finds everything as it should be, in the same worker or in a new one. */
async function expectClean(before: unknown): Promise<void> {
  expect(hostState()).toEqual(before);
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  // On a busy machine even this takes long; it is no attempt, so it may.
  const { value } = await run(CLEAN, { ...BOUNDS, computeMs: 20_000 });
  expect(value).toEqual([[], null, 'undefined', 'undefined', '[1]', 1, '']);
}

describe('escapes from the sandbox', STARTS_PROCESSES, () => {
  it('CODE-3 the list has more than 200 attempts', () => {
    const all = [...Object.values(ESCAPES).flat(), ...EXHAUSTION];
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThan(200);
  });

  for (const [kind, attempts] of Object.entries(ESCAPES)) {
    it(`CODE-3 A56 nothing of the host is reached: ${kind} (${attempts.length})`, async () => {
      const before = hostState();
      for (const [at, script] of attempts.entries()) {
        const result = await run(script);
        const shown = `${script} → ${JSON.stringify(result)}`;
        expect(JSON.stringify(result), shown).not.toMatch(HOST_WORDS);
        if (!result.success) expect(result.error?.code, shown).toMatch(/^SCRIPT_(ERROR|LIMIT_EXCEEDED)$/);
        if (kind === 'constructors of functions' || kind === 'globals of hosts') {
          expect(result.success ? result.value : 'undefined', shown).toBe('undefined');
        }
        for (const call of calls) {
          expect(Object.getPrototypeOf(call.arguments), shown).toBe(Object.prototype);
          expect([typeof call.server, typeof call.tool], shown).toEqual(['string', 'string']);
        }
        // Of the kinds with many alike, every fifth: each look is a script of its own.
        if (attempts.length < 50 || at % 5 === 0) await expectClean(before);
      }
      await expectClean(before);
    });
  }

  it(`CODE-3 A56 what uses up a bound ends, and the host goes on (${EXHAUSTION.length})`, async () => {
    const bounds = { ...BOUNDS, computeMs: 60, memoryBytes: 16 << 20 };
    for (const script of EXHAUSTION) {
      const before = hostState();
      const result = await run(script, bounds);
      expect(result.error?.code ?? 'ended', script).toMatch(/^(SCRIPT_ERROR|SCRIPT_LIMIT_EXCEEDED|ended)$/);
      expect(JSON.stringify(result), script).not.toMatch(HOST_WORDS);
      await expectClean(before);
    }
  });
});
