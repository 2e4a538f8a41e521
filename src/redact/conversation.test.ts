import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isDeeperThan, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Screen } from '../model/host.js';
import { RedactionConfig } from '../model/config.js';
import { createRedaction, type Redaction } from './redaction.js';
import { repetitions } from '../../test/support/long-form.js';

type Rule = Partial<RedactionConfig> & { match: RedactionConfig['match'] };

function redactionOf(...rules: Rule[]): Redaction {
  const redaction = createRedaction();
  redaction.use(rules.map((rule) => RedactionConfig.parse({ where: ['arguments', 'results'], ...rule })));
  return redaction;
}
const screenOf = (...rules: Rule[]): Screen => redactionOf(...rules).screen('s')!;

const form = {
  mode: 'form',
  message: 'Your number? It was A-1.',
  requestedSchema: {
    type: 'object',
    properties: {
      ssn: { type: 'string', title: 'Number', default: '123' },
      note: { type: 'string', default: 'about A-1', enum: ['A-1', 'none'] },
    },
    required: ['ssn'],
  },
};
const wish: JsonObject = {
  messages: [
    { role: 'user', content: { type: 'text', text: 'of A-1' } },
    { role: 'assistant', content: [{ type: 'tool_use', name: 't', id: '1', input: { ssn: '123' } }] },
  ],
  systemPrompt: '{"ssn":"123","for":"A-1"}',
  metadata: { ssn: '123' },
  maxTokens: 10,
  tools: [{ name: 't', inputSchema: { type: 'object', properties: { ssn: { type: 'string' } } } }],
  _meta: { progressToken: 7 },
};

describe('what a server asks its host', () => {
  it('NEG-6 A33 a form keeps its fields, and loses what is filled in and what a pattern finds', () => {
    const { question } = screenOf({ match: ['ssn', '/A-\\d/'] });
    expect(question(form)).toEqual({
      mode: 'form',
      message: 'Your number? It was ***.',
      requestedSchema: {
        type: 'object',
        properties: {
          ssn: { type: 'string', title: 'Number' },
          note: { type: 'string', default: 'about ***', enum: ['***', 'none'] },
        },
        required: ['ssn'],
      },
    });
  });

  it('NEG-6 A33 a wish for a model is redacted in messages, prompt and metadata; what the protocol named stays', () => {
    const { question } = screenOf({ match: ['ssn', '*token*', 'type', '/A-\\d/'] });
    expect(question(wish)).toEqual({
      ...wish,
      messages: [
        { role: 'user', content: { type: 'text', text: 'of ***' } },
        { role: 'assistant', content: [{ type: 'tool_use', name: 't', id: '1', input: { ssn: '***' } }] },
      ],
      systemPrompt: '{"ssn":"***","for":"***"}',
      metadata: { ssn: '***' },
    });
  });

  it('NEG-6 what is dropped leaves a question that can still be read', () => {
    const { question } = screenOf({ match: ['ssn', '/A-\\d/'], action: 'drop' });
    expect(question(form)).toMatchObject({ message: '***', requestedSchema: { required: ['ssn'] } });
    expect(question(wish)).toMatchObject({
      messages: [{ content: { type: 'text', text: '***' } }, { content: [{ type: 'tool_use', input: {} }] }],
      metadata: {},
      maxTokens: 10,
    });
  });

  it('NEG-6 answers are redacted on their way to the server: forms, models, roots and refusals', () => {
    const { answer, refusal } = screenOf({ match: ['ssn', 'address.street', '/A-\\d/'] });
    expect(answer({ action: 'accept', content: { ssn: 1, address: { street: 'x', city: 'y' }, type: 'A-1' } })).toEqual(
      {
        action: 'accept',
        content: { ssn: '***', address: { street: '***', city: 'y' }, type: '***' },
      },
    );
    expect(answer({ role: 'assistant', model: 'm', content: { type: 'text', text: 'it is A-1' } })).toEqual({
      role: 'assistant',
      model: 'm',
      content: { type: 'text', text: 'it is ***' },
    });
    expect(answer({ roots: [{ uri: 'file:///A-1', name: 'x' }] })).toEqual({
      roots: [{ uri: 'file:///***', name: 'x' }],
    });
    expect(refusal({ code: -1, message: 'not A-1', data: { ssn: 1 } })).toEqual({
      code: -1,
      message: 'not ***',
      data: { ssn: '***' },
    });
  });

  it('NEG-6 each direction has rules of its own, and so has each server', () => {
    const results = screenOf({ match: 'ssn', where: 'results' });
    expect(results.question({ metadata: { ssn: 1 } })).toEqual({ metadata: { ssn: '***' } });
    expect(results.answer({ action: 'accept', content: { ssn: 1 } })).toEqual({
      action: 'accept',
      content: { ssn: 1 },
    });
    const args = screenOf({ match: 'ssn', where: 'arguments' });
    expect(args.question({ metadata: { ssn: 1 } })).toEqual({ metadata: { ssn: 1 } });
    expect(args.answer({ action: 'accept', content: { ssn: 1 } })).toMatchObject({ content: { ssn: '***' } });
    expect(redactionOf({ match: 'ssn', servers: ['other'] }).screen('s')).toBeUndefined();
  });

  it('NEG-6 a modern server asks in a result: its questions are redacted, its state is not', () => {
    const redaction = redactionOf({ match: ['ssn', '*state*', '/A-\\d/'] });
    const asking = {
      resultType: 'input_required',
      inputRequests: { 'A-1': { method: 'elicitation/create', params: form }, odd: 'A-1' },
      requestState: 'A-1',
      content: [{ type: 'text', text: 'A-1' }],
    };
    expect(redaction.incoming('s')!.result(asking)).toMatchObject({
      resultType: 'input_required',
      inputRequests: { 'A-1': { params: { message: 'Your number? It was ***.' } }, odd: '***' },
      requestState: 'A-1',
      content: [{ type: 'text', text: '***' }],
    });
    expect(
      redaction
        .outgoing('s')!
        .resumed({ requestState: 'A-1', inputResponses: { n: { action: 'accept', content: { ssn: 1 } } } }),
    ).toEqual({ requestState: 'A-1', inputResponses: { n: { action: 'accept', content: { ssn: '***' } } } });
  });

  it('NEG-6 A26 A27 R15 whatever is asked, told or answered, nothing that a pattern finds gets through, twice changes nothing', () => {
    const screen = screenOf({ match: ['secret', '/CANARY/'] });
    const text = fc.constantFrom('CANARY', 'a CANARY b', 'x', '{"secret":"CANARY"}', '["CANARY"]', '');
    const key = fc.constantFrom(
      ...(
        'message messages content requestedSchema properties default metadata systemPrompt ' +
        'action roots data type text secret __proto__ constructor x'
      ).split(' '),
    );
    const { tree } = fc.letrec<{ tree: JsonValue }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        text,
        fc.integer(),
        fc.constant(null),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc
          .array(fc.tuple(key, tie('tree')), { maxLength: 4 })
          .map((entries) => Object.fromEntries(entries) as JsonObject),
      ),
    }));
    const anything = fc.array(fc.tuple(key, tree), { maxLength: 6 }).map((entries) => Object.fromEntries(entries));
    fc.assert(
      fc.property(anything, fc.constantFrom('question', 'answer', 'notice', 'refusal'), (value, which) => {
        const once = screen[which](value as JsonObject);
        expect(JSON.stringify(once)).not.toContain('CANARY');
        expect(screen[which](once)).toEqual(once);
        expect(Object.getPrototypeOf(once)).toBe(Object.prototype);
      }),
      { numRuns: repetitions(400, 2000) },
    );
    let deep: JsonValue = 'CANARY';
    for (let level = 0; level < 20_000; level++) deep = [deep];
    for (const which of ['question', 'answer', 'notice', 'refusal'] as const) {
      const shown = screen[which]({ message: deep, content: deep, data: deep, _meta: { deep } });
      expect(isDeeperThan(shown, 300)).toBe(false);
    }
  });
});
