import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../../test/support/any-text.js';
import type { JsonObject } from '../../kernel/json.js';
import type { Parameter } from '../../model/tool.js';
import { parseArguments, tellUnknown } from './arguments.js';

const parameter = (name: string, type: string): Parameter => ({ name, type, required: false, description: '' });

function parse(pair: string, type?: string): unknown {
  const name = pair.slice(0, pair.search(/:?=/));
  return parseArguments([pair], type === undefined ? [] : [parameter(name, type)])[name];
}

describe('parseArguments', () => {
  it('CLI-1 a value is read by the type its parameter has', () => {
    expect(parse('a=5', 'number')).toBe(5);
    expect(parse('a=-0.5', 'number')).toBe(-0.5);
    expect(parse('a=5', 'integer')).toBe(5);
    expect(parse('a=5', 'string')).toBe('5');
    expect(parse('a=true', 'string')).toBe('true');
    expect(parse('a=true', 'boolean')).toBe(true);
    expect(parse('a=false', 'boolean')).toBe(false);
    expect(parse('a=null', 'null')).toBe(null);
    expect(parse('a={"b":[1]}', 'object')).toEqual({ b: [1] });
    expect(parse('a=[1,2]', 'number[]')).toEqual([1, 2]);
  });

  it('CLI-1 with several types text wins, otherwise what fits', () => {
    expect(parse('a=5', 'string | number')).toBe('5');
    expect(parse('a=5', 'number | null')).toBe(5);
    expect(parse('a=null', 'number | null')).toBe(null);
    expect(parse('a=true', 'number|boolean')).toBe(true);
  });

  it('CLI-1 a list of texts may be written with commas', () => {
    expect(parse('tags=red,green', 'string[]')).toEqual(['red', 'green']);
    expect(parse('tags=red', 'string[]')).toEqual(['red']);
    expect(parse('tags=["a,b"]', 'string[]')).toEqual(['a,b']);
  });

  it('CLI-1 a list of texts with one entry that looks like a number is still a list of texts', () => {
    expect(parse('tags=5', 'string[]')).toEqual(['5']);
    expect(parse('tags=true', 'string[]')).toEqual(['true']);
  });

  it('CLI-1 what does not fit stays text and is left to the validation', () => {
    expect(parse('a=many', 'number')).toBe('many');
    expect(parse('a=', 'number')).toBe('');
    expect(parse('a=yes', 'boolean')).toBe('yes');
    expect(parse('a={oops', 'object')).toBe('{oops');
  });

  it('CLI-1 an unknown parameter is text; what follows the first = belongs to the value', () => {
    expect(parse('a=5')).toBe('5');
    expect(parse('a=b=c')).toBe('b=c');
    expect(parse('url=https://x/?q=1', 'string')).toBe('https://x/?q=1');
    expect(parse('a=')).toBe('');
  });

  it('CLI-1 name:=JSON is taken as it stands, whatever the type', () => {
    expect(parse('a:="5"', 'number')).toBe('5');
    expect(parse('a:={"b":null}')).toEqual({ b: null });
    expect(parse('a:=false', 'string')).toBe(false);
  });

  it('CLI-2 an invalid argument or invalid JSON is a usage error that names it', () => {
    const refused = (pair: string): unknown => {
      try {
        return parseArguments([pair], []);
      } catch (thrown) {
        return thrown;
      }
    };
    expect(refused('path')).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('"path"') as string,
    });
    expect(refused('=x')).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(refused('a:={oops')).toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('"a"') as string,
    });
  });

  it('CLI-2 a number that no JSON can carry is refused, wherever it stands', () => {
    const refusal = expect.objectContaining({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/"a".*too large/) as string,
    }) as Error;
    for (const [pair, type] of [
      ['a=1e400', 'number'],
      ['a=-1e400', 'integer'],
      ['a=1e400', 'number | null'],
      ['a=[1,1e400]', 'number[]'],
      ['a={"b":{"c":1e400}}', 'object'],
      ['a:=1e400', undefined],
      ['a:=[{"b":-1e999}]', undefined],
    ] as const) {
      expect(() => parse(pair, type), pair).toThrow(refusal);
    }
    expect(parse('a=1e400', 'string')).toBe('1e400');
    expect(parse('a=Infinity', 'number')).toBe('Infinity');
    expect(parse('a=1e308', 'number')).toBe(1e308);
  });

  it('CLI-1 reports an argument that the schema does not name, with the nearest name', () => {
    const schema = { type: 'object', properties: { message: { type: 'string' }, count: { type: 'integer' } } };
    expect(tellUnknown(['mesage', 'message', 'zzz'], schema)).toEqual([
      'Warning: the tool has no parameter "mesage"; it is sent all the same. Did you mean "message"?',
      'Warning: the tool has no parameter "zzz"; it is sent all the same.',
    ]);
    expect(tellUnknown(['__proto__', 'constructor'], schema)).toHaveLength(2);
    expect(tellUnknown(['count'], schema)).toEqual([]);
    expect(tellUnknown(['zzz'], { ...schema, additionalProperties: false })).toEqual([
      'Warning: the tool has no parameter "zzz".',
    ]);
  });

  it.each([
    [undefined],
    [{ type: 'object' }],
    [{ type: 'object', properties: {}, patternProperties: { '^x': {} } }],
    [{ type: 'object', properties: { a: {} }, anyOf: [{ properties: { mesage: {} } }] }],
    [{ $ref: '#/$defs/x', properties: { a: {} } }],
    [{ properties: [] }],
    ['properties'],
  ])('CLI-1 reports nothing where the schema does not list all names: %j', (schema) => {
    expect(tellUnknown(['mesage'], schema)).toEqual([]);
  });

  it('A27 a name that aims at prototypes is an ordinary name', () => {
    const parsed = parseArguments(['__proto__:={"polluted":true}', 'constructor=x'], []);
    expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor']);
    expect(({} as JsonObject)['polluted']).toBeUndefined();
    expect({ ...parsed }['polluted']).toBeUndefined();
  });

  it('CLI-1 the last of several values for one name counts, and no text breaks the reader', () => {
    expect(parseArguments(['a=1', 'a=2'], [])).toEqual({ a: '2' });
    fc.assert(
      fc.property(anyText(), fc.constantFrom('string', 'number', 'object', 'string[]', ''), (text, type) => {
        expect(Object.keys(parseArguments([`a=${text}`], [parameter('a', type)]))).toEqual(['a']);
      }),
    );
  });
});
