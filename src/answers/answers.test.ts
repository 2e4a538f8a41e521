import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { AnswersConfig } from '../model/config.js';
import type { Viewer } from '../model/viewer.js';
import { budgetOf, createAnswers } from './answers.js';
import { compileSelection } from './select/select.js';

const plain = { name: 'list', definition: {} };
const declaring = (characters: unknown) => ({
  name: 'list',
  definition: { _meta: { 'anthropic/maxResultSizeChars': characters as number } },
});
const config = (input: object = {}): AnswersConfig => AnswersConfig.parse(input);

describe('budgetOf', () => {
  it('ANS-1 the budget is 8000 tokens for an agent, and off for programs and for hosts that are offered all tools', () => {
    expect(budgetOf('agent', {}, plain, config())).toBe(8000);
    expect(budgetOf('pinned', {}, plain, config())).toBe(8000);
    expect(budgetOf('passthrough', {}, plain, config())).toBeUndefined();
    expect(budgetOf(undefined, {}, plain, config({ maxTokens: 900 }))).toBeUndefined();
    expect(budgetOf('passthrough', {}, plain, config({ maxTokens: 900 }))).toBe(900);
    expect(budgetOf('agent', {}, plain, config({ maxTokens: false }))).toBeUndefined();
    expect(budgetOf(700, {}, plain, config({ maxTokens: false }))).toBe(700);
  });

  it('ANS-1 goes by the tool, then by its server, then by the config', () => {
    const answers = { maxTokens: 1000, tools: { list: 2000, log: false as const } };
    expect(budgetOf('agent', { answers }, plain, config())).toBe(2000);
    expect(budgetOf('agent', { answers }, { ...plain, name: 'log' }, config())).toBeUndefined();
    expect(budgetOf('agent', { answers }, { ...plain, name: 'constructor' }, config())).toBe(1000);
    expect(budgetOf('passthrough', { answers: { maxTokens: 600 } }, plain, config())).toBe(600);
    expect(budgetOf('agent', { answers: { maxTokens: false } }, plain, config())).toBeUndefined();
  });

  it('ANS-5 is raised by a size that the tool declares, up to a cap, and never lowered', () => {
    expect(budgetOf('agent', {}, declaring(60_000), config())).toBe(15_000);
    expect(budgetOf('agent', {}, declaring(500_000), config())).toBe(25_000);
    expect(budgetOf('agent', {}, declaring(500_000), config({ maxDeclaredTokens: 0 }))).toBe(8000);
    expect(budgetOf('agent', {}, declaring(100), config())).toBe(8000);
    for (const wrong of [-5, 'many', null, Infinity, {}]) {
      expect(budgetOf('agent', {}, declaring(wrong), config())).toBeLessThanOrEqual(25_000);
    }
    expect(budgetOf('agent', { answers: { maxTokens: 900 } }, declaring(60_000), config())).toBe(900);
    expect(budgetOf('passthrough', {}, declaring(60_000), config())).toBeUndefined();
  });
});

describe('selected parts', () => {
  const viewer: Viewer = { principal: 'a', scopes: new Set(['call']), isLimited: false, sees: () => true };
  const keptResults: JsonObject[] = [];
  const answers = createAnswers(
    {
      keep: (_viewer, _from, result) => Promise.resolve(`res_${keptResults.push(result)}`),
      find: () => Promise.resolve(undefined),
      hasAny: () => Promise.resolve(true),
    },
    () => ({ answers: config(), screenResults: 'off', splitReads: false }),
    (_subject, answer) => answer,
  );
  const json = (value: JsonValue): JsonObject => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
  const select = async (result: JsonObject, expression: string, maxTokens?: number): Promise<string[]> => {
    const wanted = { select: compileSelection(expression), ...(maxTokens !== undefined && { maxTokens }) };
    const { result: made } = await answers.answer(viewer, { server: 's', tool: 't' }, result, wanted);
    return (made['content'] as Array<{ text: string }>).map(({ text }) => text);
  };
  const items = Array.from({ length: 300 }, (_, id) => ({ id, name: `item ${id}`, log: 'one\ntwo' }));

  it('ANS-4 a selected text is shown as it is', async () => {
    expect((await select(json({ items }), 'items[0].log'))[0]).toBe('one\ntwo');
  });

  it('ANS-4 a field that is null everywhere brings the shape of the whole', async () => {
    for (const missing of [
      'items[*].{i: id, n: nam}',
      'items[*].[nam][]',
      '{a: items[0].id, b: none}',
      'items[?id>`999`]',
    ]) {
      expect((await select(json({ items }), missing))[1]).toContain('Its shape: {items: [300 × {id: number');
    }
    expect((await select(json({ items }), 'items[*].{i: id}'))[1]).not.toContain('Its shape');
    expect((await select(json({ items }), 'items[*].id'))[1]).not.toContain('Its shape');
  });

  it('ANS-4 looks into the one text of an object when it is JSON', async () => {
    const written = JSON.stringify({ people: items });
    const result = { content: [{ type: 'text', text: written }], structuredContent: { content: written } };
    expect((await select(result, 'people[1].name'))[0]).toBe('item 1');
    expect((await select(result, 'nobody'))[0]).toBe('null');
    expect((await select({ content: [], structuredContent: { content: 'words '.repeat(99) } }, 'a'))[0]).toBe('null');
  });

  it('ANS-4 a selection that is too large names the handle of the whole, too', async () => {
    const before = keptResults.length;
    const [text] = await select(json({ items, more: 1 }), 'items', 500);
    expect(text).toContain(`It is what select gave of a result that is kept as res_${before + 1}.`);
    expect(text).toContain(`Kept as res_${before + 2}.`);
  });

  it('ANS-4 a tiny result is shown beside the selection instead of being kept', async () => {
    const before = keptResults.length;
    const sum = { sum: 3, of: [1, 2] };
    expect(await select(json(sum), 'sum')).toEqual(['3', '[Selected from {"sum":3,"of":[1,2]}]']);
    expect(await select({ content: [], structuredContent: sum }, 'of[0]')).toHaveLength(2);
    expect(await select(json(sum), '@')).toEqual([JSON.stringify(sum)]);
    expect(keptResults).toHaveLength(before);
    // What the result says beside that would be lost.
    await select({ content: [{ type: 'text', text: 'Three.' }], structuredContent: sum }, 'sum');
    await select({ content: [{ type: 'image', data: '', mimeType: 'image/png' }], structuredContent: sum }, 'sum');
    expect(keptResults).toHaveLength(before + 2);
  });
});
