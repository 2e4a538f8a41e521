import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hideInArguments, hideInUrl, secretsOfHeader } from './credentials.js';

const shown = (...args: string[]): string =>
  hideInArguments(args)
    .map((hidden) => hidden.shown)
    .join(' ');

describe('hideInUrl', () => {
  it.each([
    ['https://mcp.example/mcp', 'https://mcp.example/mcp'],
    ['https://user:pass@mcp.example/mcp', 'https://***@mcp.example/mcp'],
    ['https://u@d:p@ss@mcp.example:8/', 'https://***@mcp.example:8/'],
    ['https://mcp.example/mcp?key=abc&b=c&bare', 'https://mcp.example/mcp?key=***&b=***&***'],
    ['https://mcp.example/?q=a@b/c', 'https://mcp.example/?q=***'],
    ['https://mcp.example/#abc', 'https://mcp.example/#***'],
    ['https://mcp.example/s/0f8fad5b-d9cb-469f-a165-70867728950e/mcp', 'https://mcp.example/s/***/mcp'],
    ['${URL}/mcp', '${URL}/mcp'],
    ['not a url', 'not a url'],
  ])('CFG-4 %s is shown as %s', (url, expected) => {
    expect(hideInUrl(url).shown).toBe(expected);
  });

  it('CFG-4 names both forms of an encoded value as secret', () => {
    expect(hideInUrl('https://u:p%40ss@h/?k=%ff').secrets).toEqual(expect.arrayContaining(['p%40ss', 'p@ss', '%ff']));
  });
});

describe('hideInArguments', () => {
  it.each([
    [['-y', '@scope/server', '/data'], '-y @scope/server /data'],
    [['--token=xyz'], '--token=***'],
    [['--api-key', 'xyz', 'next'], '--api-key *** next'],
    [['--apiKey', 'xyz'], '--apiKey ***'],
    [['--access_token', 'xyz'], '--access_token ***'],
    [['--githubToken=xyz'], '--githubToken=***'],
    [['--token', '--verbose', 'x'], '--token --verbose x'],
    [['-e', 'ANYTHING=xyz=1', 'image'], '-e ANYTHING=*** image'],
    [['-e', 'GITHUB_TOKEN', 'image'], '-e GITHUB_TOKEN image'],
    [['API_KEY=xyz'], 'API_KEY=***'],
    [['-H', 'Authorization: Bearer xyz'], '-H Authorization: ***'],
    [['--header', 'X-Any: xyz'], '--header ***'],
    [['postgres://u:p@h/db'], 'postgres://***@h/db'],
    [['--url=postgres://u:p@h/db'], '--url=postgres://***@h/db'],
    [['ghp_0123456789abcdef'], '***'],
    [['--x=sk-0123456789abcdef'], '--x=***'],
    [['--keyboard=us', '--path=/a'], '--keyboard=us --path=/a'],
  ])('CFG-4 %j is shown as %s', (args, expected) => {
    expect(shown(...args)).toBe(expected);
  });

  it('CFG-4 what is hidden is also known as secret, and nothing throws', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (value, other) => {
        fc.pre(value.trim() !== '');
        expect(hideInArguments([`--token=${value}`])[0]!.secrets.some((secret) => value.endsWith(secret))).toBe(true);
        expect(hideInArguments([other, value])).toHaveLength(2);
        expect(hideInUrl(value).shown).toBeTypeOf('string');
      }),
    );
  });
});

describe('secretsOfHeader', () => {
  it('CFG-4 the credential is secret with and without its scheme', () => {
    expect(secretsOfHeader('Bearer abc')).toEqual(['Bearer abc', 'abc']);
    expect(secretsOfHeader('Authorization: Bearer abc')).toEqual(['Authorization: Bearer abc', 'Bearer abc', 'abc']);
    expect(secretsOfHeader('abc')).toEqual(['abc']);
  });
});
