import { describe, expect, it } from 'vitest';
import { AnswersConfig } from '../model/config.js';
import { budgetOf } from './answers.js';

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
