import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { RedactionConfig } from '../model/config.js';
import { createRedaction, type Redaction } from './redaction.js';

type Rule = Partial<RedactionConfig> & { match: RedactionConfig['match'] };

function redactionOf(...rules: Rule[]): Redaction {
  const redaction = createRedaction();
  redaction.use(rules.map((rule) => RedactionConfig.parse({ where: ['arguments', 'results', 'logs'], ...rule })));
  return redaction;
}
const outgoingOf = (...rules: Rule[]) => redactionOf(...rules).outgoing('s')!;
const incomingOf = (...rules: Rule[]) => redactionOf(...rules).incoming('s')!;
const ALL: Rule = { match: ['ssn', '/A-\\d/'] };

describe('what a server receives', () => {
  it('NEG-6 A33 the metadata of a request is redacted like arguments', () => {
    const { meta, arguments: args } = outgoingOf(ALL);
    for (const redact of [meta, args]) {
      expect(redact({ ssn: '1', 'x.example/note': 'for A-1', n: 1 })).toEqual({
        ssn: '***',
        'x.example/note': 'for ***',
        n: 1,
      });
    }
  });

  it('NEG-6 a field without a value gets none', () => {
    expect(outgoingOf(ALL).arguments({ ssn: undefined, n: 1 } as unknown as JsonObject)).toEqual({ n: 1 });
  });

  it('NEG-6 A28 JSON in a text is read up to 8 MiB; of a longer text what patterns on values find', () => {
    const { arguments: redact } = outgoingOf({ match: 'ssn' });
    const textOf = (length: number): string => {
      const start = '{"ssn":"7","more":"';
      return `${start}${'x'.repeat(length - start.length - 2)}"}`;
    };
    const [whole, longer] = [textOf(8 * 1024 * 1024), textOf(8 * 1024 * 1024 + 1)];
    expect(String(redact({ whole })['whole']).slice(0, 20)).toBe('{"ssn":"***","more":');
    expect(redact({ longer })['longer'] === longer).toBe(true);
  });

  it('NEG-6 a word that is completed is redacted by the argument it is for, and stays a word when it is dropped', () => {
    const completed = (rule: Rule, argument: JsonValue): JsonValue | undefined =>
      outgoingOf(rule).params({ argument })['argument'];
    expect(completed(ALL, { name: 'ssn', value: '1' })).toEqual({ name: 'ssn', value: '***' });
    expect(completed(ALL, { name: 'note', value: 'A-1' })).toEqual({ name: 'note', value: '***' });
    expect(completed(ALL, { name: 'note' })).toEqual({ name: 'note', value: '' });
    expect(completed({ match: 'ssn', action: 'drop' }, { name: 'ssn', value: '1' })).toEqual({
      name: 'ssn',
      value: '***',
    });
    expect(completed(ALL, 'A-1')).toBe('***');
    expect(completed(ALL, { name: 5, value: 'A-1' })).toEqual({ name: 5, value: '***' });
  });

  it('NEG-6 answers to the questions of an earlier round are redacted, whatever they are; the state stays', () => {
    const { resumed } = outgoingOf(ALL);
    expect(resumed({ requestState: 'A-1' })).toEqual({ requestState: 'A-1' });
    expect(
      resumed({
        requestState: 'A-1',
        inputResponses: {
          form: { action: 'accept', content: { ssn: 1 } },
          model: { role: 'assistant', content: { type: 'text', text: 'A-1' } },
          odd: 'A-1' as never,
          none: undefined as never,
        },
      }),
    ).toEqual({
      requestState: 'A-1',
      inputResponses: {
        form: { action: 'accept', content: { ssn: '***' } },
        model: { role: 'assistant', content: { type: 'text', text: '***' } },
        odd: '***',
        none: null,
      },
    });
  });

  it('NEG-6 a refusal keeps its code when it is a number, and is redacted in all else', () => {
    const { refusal } = outgoingOf({ match: ['code', 'message', 'ssn', '/A-\\d|32/'] });
    expect(refusal({ code: -32_000, message: 'no A-1', data: { ssn: 1 } })).toEqual({
      code: -32_000,
      message: 'no ***',
      data: { ssn: '***' },
    });
    expect(refusal({ code: 'A-1', message: ['A-1'], data: 'A-1' })).toEqual({
      code: '***',
      message: ['***'],
      data: '***',
    });
  });
});

describe('what a caller gets', () => {
  it('NEG-6 a message is redacted, and one that would be dropped becomes a mask', () => {
    expect(incomingOf(ALL).text('no A-1 here')).toBe('no *** here');
    expect(incomingOf({ ...ALL, action: 'drop' }).text('no A-1 here')).toBe('***');
  });

  it('NEG-6 questions of a modern server are redacted in whatever shape they come', () => {
    const { result } = incomingOf(ALL);
    const ask = (inputRequests: JsonValue): JsonValue | undefined =>
      result({ resultType: 'input_required', inputRequests })['inputRequests'];
    expect(ask({ a: { method: 'm', params: 'A-1' } })).toEqual({ a: { method: 'm', params: '***' } });
    expect(ask({ a: { method: 'm A-1', params: { message: 'A-1', mode: 'form' } } })).toEqual({
      a: { method: 'm ***', params: { message: '***', mode: 'form' } },
    });
    expect(ask({ a: null, b: 'A-1', c: [{ ssn: 1 }] })).toEqual({ a: null, b: '***', c: [{ ssn: '***' }] });
    expect(ask(['A-1'])).toEqual(['***']);
    expect(ask('A-1')).toBe('***');
    expect(result({ resultType: 'input_required' })).toEqual({ resultType: 'input_required' });
    // Only a result that asks has questions; in any other the same fields are data.
    expect(result({ resultType: 'complete', requestState: 'A-1', inputRequests: { ssn: 1 } })).toEqual({
      resultType: 'complete',
      requestState: '***',
      inputRequests: { ssn: '***' },
    });
  });

  it('NEG-6 odd questions lose what a rule finds: messages, forms and content that are none', () => {
    const question = redactionOf(ALL).screen('s')!.question;
    expect(question({ message: ['A-1'], messages: 'A-1', requestedSchema: 'A-1', systemPrompt: { ssn: 1 } })).toEqual({
      message: ['***'],
      messages: '***',
      requestedSchema: '***',
      systemPrompt: { ssn: '***' },
    });
    expect(question({ messages: ['A-1', { role: 'user', content: 'A-1' }] })).toEqual({
      messages: ['***', { role: 'user', content: '***' }],
    });
    const form = (properties: JsonValue): JsonObject => ({ requestedSchema: { type: 'object', properties } });
    expect(question(form(['A-1']))).toEqual(form(['***']));
    expect(question(form({ ssn: 'A-1', n: { default: 'A-1' } }))).toEqual(form({ ssn: '***', n: { default: '***' } }));
  });

  it('NEG-6 a block of content keeps its type, and its text as a mask, whatever the rules drop', () => {
    const question = redactionOf({ match: ['type', 'text', '/A-\\d/'], action: 'drop' }).screen('s')!.question;
    const content = (given: JsonValue): JsonValue | undefined =>
      (question({ messages: [{ content: given }] })['messages'] as JsonObject[])[0]!['content'];
    expect(content({ type: 'text', text: 'hello' })).toEqual({ type: 'text', text: '***' });
    expect(content({ type: 'A-1', text: 5, data: 'x' })).toEqual({ type: '***', data: 'x' });
    expect(content({ type: 5 })).toEqual({});
    expect(content(['A-1', { type: 'text' }])).toEqual(['***', { type: 'text' }]);
  });

  it('NEG-6 notices are redacted in their data, and by patterns in the rest', () => {
    const notice = redactionOf({ match: ['level', 'ssn', '/A-\\d/'] }).screen('s')!.notice;
    expect(notice({ level: 'info', logger: 'A-1', data: { ssn: 1, level: 'x' } })).toEqual({
      level: 'info',
      logger: '***',
      data: { ssn: '***', level: '***' },
    });
  });
});

describe('whole values', () => {
  const shown = (rule: Rule, value: JsonValue): JsonValue | undefined =>
    incomingOf(rule).result({ structuredContent: value })['structuredContent'];

  it('NEG-6 JSON within a text is written as it was: in one line, or in several', () => {
    const rule: Rule = { match: 'ssn' };
    expect(shown(rule, ' {"ssn":1,"n":[2]}')).toBe('{"ssn":"***","n":[2]}');
    expect(shown(rule, '[\n {"ssn":1}]')).toBe('[\n  {\n    "ssn": "***"\n  }\n]');
    expect(shown(rule, '{"ssn": broken')).toBe('{"ssn": broken');
    expect(shown(rule, '"ssn"')).toBe('"ssn"');
    expect(shown(rule, '{ "n" : 1 }')).toBe('{ "n" : 1 }');
    expect(shown({ match: '/b/', action: 'drop' }, '["b","c"]')).toBe('["c"]');
  });

  it('A28 NEG-6 what nests deeper than 256 levels is masked, to the level', () => {
    const nested = (levels: number): JsonValue => {
      let value: JsonValue = 'x';
      for (let level = 0; level < levels; level++) value = [value];
      return value;
    };
    const { arguments: redact } = outgoingOf({ match: 'ssn' });
    expect(JSON.stringify(redact({ a: nested(255) }))).not.toContain('***');
    expect(JSON.stringify(redact({ a: nested(256) }))).toContain('***');
    expect(redact({ a: JSON.stringify(nested(254)) })).toEqual({ a: JSON.stringify(nested(254)) });
    expect(JSON.stringify(redact({ a: JSON.stringify(nested(255)) }))).toContain('***');
    expect(redact({ a: JSON.stringify(nested(256)) })).toEqual({ a: '***' });
  });

  it('NEG-6 the first rule of a field decides for all below it; what is beside it is untouched and the same object', () => {
    const beside = { deep: [1, { x: null }] };
    const value = { ssn: { a: [1] }, beside, gone: undefined } as unknown as JsonObject;
    const result = outgoingOf({ match: 'ssn', action: 'hash' }).arguments(value);
    expect(result['ssn']).toMatch(/^sha256:[0-9a-f]{16}$/);
    expect(result['beside']).toBe(beside);
    expect(outgoingOf({ match: 'none' }).arguments(value)).toBe(value);
  });

  it('NEG-6 structured content is matched from its own root and from that of the result', () => {
    const result = { structuredContent: { user: { id: 1 }, id: 2 }, content: [], user: { id: 3 } };
    expect(incomingOf({ match: 'user.id' }).result(result)).toEqual({
      ...result,
      structuredContent: { user: { id: '***' }, id: 2 },
      user: { id: '***' },
    });
    expect(incomingOf({ match: 'structuredContent.id' }).result(result)).toEqual({
      ...result,
      structuredContent: { user: { id: 1 }, id: '***' },
    });
  });
});

describe('nothing at all', () => {
  it('NEG-6 null is not redacted: it says that there is no value', () => {
    const redaction = redactionOf(ALL);
    expect(redaction.screen('s')!.question({ metadata: null, message: null })).toEqual({
      metadata: null,
      message: null,
    });
    expect(redaction.screen('s')!.notice({ data: null })).toEqual({ data: null });
    expect([redaction.stored(null), redaction.stored([null]), redaction.shown(null)]).toEqual([null, [null], null]);
    expect(redactionOf({ match: '/A/', action: 'drop' }).stored('A')).toBe('***');
  });
});

describe('many servers', () => {
  it('A43 NEG-6 the rules of a thousand servers are kept ready, and any further one is judged alike', () => {
    const redaction = redactionOf({ match: 'ssn', servers: ['s*', '!s5'] });
    for (let at = 0; at < 1002; at++) {
      expect(redaction.outgoing(`s${at}`) === undefined).toBe(at === 5);
    }
    expect(redaction.outgoing('s1')!.arguments({ ssn: 1 })).toEqual({ ssn: '***' });
    expect(redaction.outgoing('s5')).toBeUndefined();
  });
});
