import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.js';
import { createParamHeaders } from './param-headers.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { codePoint } from '../../test/support/any-text.js';

const text = { type: 'string', 'x-mcp-header': 'Region' };
const definition = {
  inputSchema: {
    type: 'object',
    properties: {
      region: text,
      deep: { type: 'object', properties: { count: { type: 'integer', 'x-mcp-header': 'Count' } } },
      plain: { type: 'string' },
    },
  },
};

describe('arguments as headers', () => {
  it('S20 values that a tool declares are sent, others are not', () => {
    const headers = createParamHeaders();
    expect(headers.of(definition, { region: 'eu', deep: { count: 3 }, plain: 'x' })).toEqual({
      'Mcp-Param-Region': 'eu',
      'Mcp-Param-Count': '3',
    });
    expect(headers.of(definition, { region: null, deep: 'no object' })).toEqual({});
    expect(headers.of({ inputSchema: { type: 'object' } }, { region: 'eu' })).toBeUndefined();
    expect(headers.of({}, {})).toBeUndefined();
  });

  it('A34 no value can add a header, and every value comes back as what it was', COMPUTES_LONG, () => {
    const headers = createParamHeaders();
    fc.assert(
      fc.property(fc.string({ unit: codePoint }), (region) => {
        const sent = headers.of(definition, { region })!;
        expect(sent['Mcp-Param-Region']).toMatch(/^[\x20-\x7e]*$/);
        expect(headers.faultIn(definition, { region }, (name) => sent[name] ?? null)).toBeUndefined();
      }),
    );
  });

  it('S3 a header that is missing, says something else or is no valid encoding is a fault', () => {
    const headers = createParamHeaders();
    const fault = (given: string | null): string | undefined =>
      headers.faultIn(definition, { region: 'eu' }, (name) => (name === 'Mcp-Param-Region' ? given : null));
    expect(fault('eu')).toBeUndefined();
    expect(fault('=?base64?ZXU=?=')).toBeUndefined();
    expect(fault(null)).toContain('missing');
    for (const wrong of ['us', '=?base64?!!!?=', '=?base64?ZXU', '']) expect(fault(wrong)).toContain('differs from');
    const count = (name: string): string | null => (name === 'Mcp-Param-Count' ? '42.0' : null);
    expect(headers.faultIn(definition, { deep: { count: 42 } }, count)).toBeUndefined();
    expect(headers.faultIn(definition, {}, () => null)).toBeUndefined();
  });

  it('S3 only numbers are compared as numbers, and a header without an argument is a fault', () => {
    const headers = createParamHeaders();
    const fault = (args: JsonObject, given: Readonly<Record<string, string>>): string | undefined =>
      headers.faultIn(definition, args, (name) => given[name] ?? null);
    for (const said of ['0xa', '10.0', '1e1', '010', '=?base64?IDEwIA==?=', '+10']) {
      expect(fault({ region: '10' }, { 'Mcp-Param-Region': said }), said).toContain('differs from');
    }
    const count = (said: string) => fault({ deep: { count: 10 } }, { 'Mcp-Param-Count': said });
    for (const said of ['0xa', '0b1010', '010', '=?base64?IDEwIA==?=', '10.5']) expect(count(said), said).toBeDefined();
    for (const said of ['10', '10.0', '1e1']) expect(count(said), said).toBeUndefined();
    expect(fault({ deep: { count: 0 } }, { 'Mcp-Param-Count': '=?base64?IA==?=' })).toBeDefined();
    for (const args of [{}, { region: null }, { region: ['eu'] }]) {
      expect(fault(args, { 'Mcp-Param-Region': 'eu' }), JSON.stringify(args)).toContain('body has no region');
    }
  });
});
