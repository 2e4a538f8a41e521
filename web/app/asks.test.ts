import { describe, expect, it } from 'vitest';
import type { Ask } from '../api/types.js';
import { asksElsewhere, confirmations, placeOfAsk } from './asks.js';

const ask = (id: string, tool: string): Ask => ({
  id,
  kind: 'elicitation',
  method: 'elicitation/create',
  params: {},
  server: 'a/b',
  tool,
  askedAt: 0,
});

describe('questions that wait', () => {
  it('STUDIO-1 a question is named everywhere but on the page where it is answered', () => {
    const all = [ask('1', 'one'), ask('2', 'two')];
    expect(asksElsewhere(all, { view: 'home', parts: [] })).toHaveLength(2);
    expect(asksElsewhere(all, { view: 'tool', parts: ['a/b', 'one'] }).map(({ id }) => id)).toEqual(['2']);
    expect(placeOfAsk(all[0]!)).toBe('#/tool/a%2Fb/one');
  });

  it('STUDIO-1 SEC-11 a confirmation that is asked now waits under Approvals, and is not said twice there', () => {
    const open: Ask = { ...ask('3', 'drop'), confirms: { rule: 'rule 1', scope: 'call', arguments: {} } };
    const all = [ask('1', 'one'), open];
    expect(confirmations(all)).toEqual([open]);
    expect(asksElsewhere(all, { view: 'approvals', parts: [] }).map(({ id }) => id)).toEqual(['1']);
    expect(asksElsewhere(all, { view: 'home', parts: [] })).toHaveLength(2);
  });
});
