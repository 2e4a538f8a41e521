import { assert, array, constantFrom, dictionary, integer, letrec, oneof, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { estimateResultTokens } from '../kernel/tokens.js';
import { AnswersConfig } from '../model/config.js';
import type { Viewer } from '../model/viewer.js';
import { createAnswers } from './answers.js';
import type { KeptResults } from './kept-results.js';
import { codePoint } from '../../test/support/any-text.js';

const viewer: Viewer = { principal: 'a', scopes: new Set(['call']), isLimited: false, sees: () => true };
const kept: KeptResults = {
  keep: () => Promise.resolve('res_AAAAAAAAAAAAAAAAAAAAAAAA'),
  find: () => Promise.resolve(undefined),
  hasAny: () => Promise.resolve(true),
};
const answers = createAnswers(
  kept,
  () => ({ answers: AnswersConfig.parse({}), screenResults: 'off', splitReads: false }),
  (_subject, answer) => answer,
);
const answer = async (result: JsonObject, maxTokens: number): Promise<JsonObject> =>
  (await answers.answer(viewer, { server: 's', tool: 't' }, result, { maxTokens })).result;
const text = (value: string): JsonObject => ({ content: [{ type: 'text', text: value }] });

const { value: anyJson } = letrec<{ value: JsonValue }>((tie) => ({
  value: oneof(
    { maxDepth: 3 },
    string({ unit: codePoint, maxLength: 300 }),
    integer(),
    constantFrom<JsonValue[]>(null, true, [], {}),
    array(tie('value'), { maxLength: 40 }),
    dictionary(string({ maxLength: 20 }), tie('value'), { maxKeys: 30 }),
  ),
}));

describe('withheld results', () => {
  it('ANS-1 ANS-6 a result that may exceed the budget by the error of the estimate is withheld', async () => {
    const result = text('one two three four '.repeat(200));
    const tokens = estimateResultTokens(result);
    expect(await answer(result, Math.ceil(tokens * 1.15))).toBe(result);
    expect(await answer(result, Math.ceil(tokens * 1.14))).not.toBe(result);
  });

  it('ANS-1 a preview with everything around it never exceeds the budget, whatever the result is', async () => {
    const results = oneof(
      anyJson.map((value): JsonObject => text(JSON.stringify([value, value, value, value]))),
      anyJson.map((value): JsonObject => ({ content: [], structuredContent: { value, again: [value, value] } })),
      array(string({ unit: codePoint, maxLength: 400 }), { maxLength: 60 }).map((lines) => text(lines.join('\n'))),
      array(string({ unit: codePoint, maxLength: 200 }), { maxLength: 60 }).map((blocks): JsonObject => ({
        content: blocks.map((each) => ({ type: 'text', text: each.repeat(4) })),
        isError: true,
      })),
    );
    const samples: JsonObject[] = [];
    assert(
      property(results, (result) => void samples.push(result)),
      { numRuns: 150 },
    );
    for (const result of samples) {
      for (const maxTokens of [500, 2000]) {
        const made = await answer(result, maxTokens);
        expect(estimateResultTokens(made)).toBeLessThanOrEqual(maxTokens);
        expect(made['isError']).toBe(result['isError']);
      }
    }
  });

  it.each([
    ['one huge line', 'x'.repeat(5_000_000)],
    ['many short lines', 'ab\n'.repeat(1_000_000)],
    ['only line breaks', '\n'.repeat(500_000)],
    ['lone surrogates', '\ud800\udc00\ud800'.repeat(200_000)],
    ['base64', Buffer.alloc(2_000_000, 7).toString('base64')],
    ['broken JSON', `[${'{"a":1},'.repeat(200_000)}`],
    ['a list of a million numbers', JSON.stringify(Array.from({ length: 900_000 }, (_, at) => at))],
    ['deep JSON', `${'['.repeat(900)}${']'.repeat(900)}${' '.repeat(90_000)}x`],
  ])('ANS-1 A28 %s becomes a preview within the budget', async (_name, value) => {
    const made = await answer(text(value), 1000);
    expect(estimateResultTokens(made)).toBeLessThanOrEqual(1000);
    expect(JSON.stringify(made).length).toBeLessThan(40_000);
  });

  it('ANS-1 images and other data are named with type and size, and logs show their end', async () => {
    const log = Array.from({ length: 5000 }, (_, at) => `line number ${at}`).join('\n');
    const shown = JSON.stringify(await answer(text(log), 1000));
    expect(shown).toContain('line number 0\\n');
    expect(shown).toContain('line number 4999');
    expect(shown).toMatch(/lines not shown/);
    const image = { type: 'image', mimeType: 'image/png', data: 'A'.repeat(4000) };
    const blob = { type: 'resource', resource: { uri: 'a:b', mimeType: 'application/zip', blob: 'B'.repeat(8000) } };
    const mixed = JSON.stringify(await answer({ content: [image, blob, { type: 'text', text: log }] }, 1000));
    expect(mixed).toContain('image image/png, 3,000 bytes');
    expect(mixed).toContain('resource application/zip, 6,000 bytes');
    expect(mixed).not.toContain('BBBBBBBB');
  });

  it('ANS-1 names headings, and the columns of a table', async () => {
    const page = Array.from({ length: 2000 }, (_, at) => (at % 500 === 0 ? `# Part ${at}` : 'Some words.')).join('\n');
    expect(JSON.stringify(await answer(text(page), 1000))).toContain('headings by line: 0: Part 0; 500: Part 500');
    const table = ['id,name,price', ...Array.from({ length: 3000 }, (_, at) => `${at},thing ${at},${at * 2}`)].join(
      '\n',
    );
    expect(JSON.stringify(await answer(text(table), 1000))).toContain('columns id, name, price');
  });

  it('ANS-1 a question of the server to the host and a result within the budget are the same objects', async () => {
    const question = { resultType: 'input_required', inputRequests: { a: 'x'.repeat(100_000) } };
    expect(await answer(question, 500)).toBe(question);
    const small = text('small');
    expect(await answer(small, 500)).toBe(small);
  });
});
