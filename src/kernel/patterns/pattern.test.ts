import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ToolscoutError } from '../errors.js';
import { compilePattern, compilePatterns } from './pattern.js';
import { COMPUTES_LONG } from '../../../test/support/patience.js';
import { repetitions } from '../../../test/support/long-form.js';

/** A glob as a tree, so that the oracle needs no parser of its own. */
type Node =
  | { readonly kind: 'text'; readonly char: string }
  | { readonly kind: 'star' }
  | { readonly kind: 'one' }
  | { readonly kind: 'class'; readonly negated: boolean; readonly members: readonly string[] }
  | { readonly kind: 'choice'; readonly options: readonly (readonly Node[])[] };

const SPECIAL = /[*?[\]{},\\!/]/;

function print(nodes: readonly Node[]): string {
  return nodes
    .map((node) => {
      if (node.kind === 'text') return SPECIAL.test(node.char) ? `\\${node.char}` : node.char;
      if (node.kind === 'star') return '*';
      if (node.kind === 'one') return '?';
      if (node.kind === 'class') return `[${node.negated ? '!' : ''}${node.members.map((m) => `\\${m}`).join('')}]`;
      return `{${node.options.map(print).join(',')}}`;
    })
    .join('');
}

/** The naive, backtracking truth: every index that is reachable after `nodes`, from `from`. */
function ends(nodes: readonly Node[], text: readonly string[], from: number): number[] {
  const [node, ...rest] = nodes;
  if (!node) return [from];
  const char = text[from];
  let next: number[] = [];
  if (node.kind === 'star') next = Array.from({ length: text.length - from + 1 }, (_, i) => from + i);
  else if (node.kind === 'choice') next = node.options.flatMap((option) => ends(option, text, from));
  else if (char === undefined) next = [];
  else if (node.kind === 'one') next = [from + 1];
  else if (node.kind === 'text') next = node.char === char ? [from + 1] : [];
  else next = node.members.includes(char) !== node.negated ? [from + 1] : [];
  return [...new Set(next)].flatMap((index) => ends(rest, text, index));
}

const char = fc.constantFrom(
  'a',
  'b',
  'A',
  '_',
  '-',
  '/',
  '*',
  '?',
  '[',
  ']',
  '{',
  '}',
  ',',
  '\\',
  '!',
  '.',
  '^',
  '😀',
);

const { nodes: arbitraryGlob } = fc.letrec<{ nodes: Node[]; node: Node }>((tie) => ({
  nodes: fc.array(tie('node'), { maxLength: 5 }),
  node: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    char.map((value): Node => ({ kind: 'text', char: value })),
    fc.constant<Node>({ kind: 'star' }),
    fc.constant<Node>({ kind: 'one' }),
    fc.record({
      kind: fc.constant('class' as const),
      negated: fc.boolean(),
      members: fc.array(char, { minLength: 1, maxLength: 3 }),
    }),
    fc.record({
      kind: fc.constant('choice' as const),
      options: fc.array(tie('nodes'), { minLength: 1, maxLength: 3 }),
    }),
  ),
}));

const arbitraryText = fc.array(char, { maxLength: 7 });

/** Any UTF-16 text, lone surrogates included. */
const anyText = fc
  .array(fc.oneof(fc.integer({ min: 0, max: 127 }), fc.integer({ min: 0, max: 0xffff })), { maxLength: 60 })
  .map((codes) => String.fromCharCode(...codes));

describe('compilePattern', () => {
  it.each([
    ['*', '', true],
    ['*', 'any/thing', true],
    ['read_*', 'read_file', true],
    ['read_*', 'Read_file', false],
    ['read_*', 'bread_file', false],
    ['*delete*', 'repo_delete_now', true],
    ['a*/c', 'a/b/c', true],
    ['get_?', 'get_x', true],
    ['get_?', 'get_', false],
    ['get_?', 'get_😀', true],
    ['get_[abc]', 'get_b', true],
    ['get_[abc]', 'get_d', false],
    ['get_[a-c]', 'get_b', true],
    ['get_[a-]', 'get_-', true],
    ['get_[!a]', 'get_b', true],
    ['get_[!a]', 'get_a', false],
    ['get_[^a]', 'get_a', false],
    ['[]x]', ']', true],
    [String.raw`[\]x]`, ']', true],
    ['{read,write}_file', 'write_file', true],
    ['{read,write}_file', 'edit_file', false],
    ['{a,b{c,d}}', 'bd', true],
    ['{a,b{c,d}}', 'b', false],
    ['x{,_all}', 'x', true],
    ['{a}', 'a', true],
    ['a,b}', 'a,b}', true],
    ['a.c', 'abc', false],
    [String.raw`\*`, '*', true],
    [String.raw`\*`, 'x', false],
    [String.raw`\!x`, '!x', true],
    ['x\\', 'x\\', true],
    ['(a|b)+$', '(a|b)+$', true],
    ['line*', 'line\nbreak', true],
    [String.raw`/\bread\b/i`, 'x READ y', true],
    ['/^read/', 'Read', false],
    ['/a/b/', 'xa/bx', true],
  ])('PAT-1 %s on %j is %s', (pattern, text, expected) => {
    expect(compilePattern(pattern).matches(text)).toBe(expected);
  });

  it.each([
    ['', /empty/],
    ['!', /empty/],
    ['a[bc', /"\[" is never closed/],
    ['[]', /"\[" is never closed/],
    ['[z-a]', /wrong order/],
    ['{a,b', /"\{" is never closed/],
    ['/abc', /ends with "\/"/],
    ['/abc/*', /unknown flag/],
    ['/(?=a)/', /lookahead/],
    ['!/(/', /missing closing/],
    ['x'.repeat(2001), /longer than 2000/],
  ])('PAT-1 a broken pattern is a config error: %#', (pattern, message) => {
    const attempt = (): unknown => compilePattern(pattern);
    expect(attempt).toThrow(message);
    expect(attempt).toThrow(ToolscoutError);
    expect(attempt).toThrow(expect.objectContaining({ code: 'CONFIGURATION_ERROR' }));
  });

  it('PAT-1 agrees with a naive matcher on every glob and text', COMPUTES_LONG, () => {
    fc.assert(
      fc.property(arbitraryGlob, arbitraryText, (glob, text) => {
        const source = print(glob);
        fc.pre(source !== '');
        expect(compilePattern(source).matches(text.join(''))).toBe(ends(glob, text, 0).includes(text.length));
      }),
      { numRuns: repetitions(500, 2000) },
    );
  });

  it('PAT-1 any text either compiles to a total matcher or is a config error', () => {
    fc.assert(
      fc.property(anyText, anyText, (source, text) => {
        let matched: unknown = 'refused';
        try {
          matched = compilePattern(source).matches(text);
        } catch (thrown) {
          expect(thrown).toMatchObject({ code: 'CONFIGURATION_ERROR' });
        }
        expect([true, false, 'refused']).toContain(matched);
      }),
    );
  });

  it('PAT-1 no glob can hang or explode', () => {
    expect(compilePattern(`${'*a'.repeat(200)}b`).matches('a'.repeat(5000))).toBe(false);
    expect(compilePattern('{a,b}'.repeat(300)).matches('ab'.repeat(150))).toBe(true);
    expect(compilePattern('{*,*a}'.repeat(50)).matches('a'.repeat(5000))).toBe(true);
  });

  it.each([
    ['github:*', true],
    ['*', false],
    ['[:]x', true],
    ['a[:]go', true],
    ['a[x:y]go', true],
    [String.raw`a[\:]go`, true],
    ['a[:-@]go', true],
    ['a[0-:]go', true],
    ['{a[:]go,b}', true],
    ['a[!:]go', false],
    ['a[^:]go', false],
    ['a[0-z]go', false],
    [String.raw`a\:b`, true],
    ['/^github:/', true],
    ['/(?:get|list)_x/', false],
    ['/(?i:get)_x/', false],
    ['/(?:get|list):x/', true],
    ['/[[:alpha:]]x/', false],
    ['/[[:^alpha:]]x/', false],
    ['/[[:alpha:]:]x/', true],
    ['/^a[:]go$/', true],
    ['/^a[_:]go$/', true],
    [String.raw`/^a[\:]go$/`, true],
    ['/^a[^:]go$/', false],
    [String.raw`/^a[^\]:]go$/`, false],
    ['/^a[^:][:]go$/', true],
    ['/^a[0-z]go$/', false],
    [String.raw`/^a\x3ago$/`, true],
    [String.raw`/^a\x{3A}go$/`, true],
    [String.raw`/^a\u003ago$/`, true],
    [String.raw`/^a\u{3a}go$/`, true],
    [String.raw`/^a\072go$/`, true],
    [String.raw`/^a\\x3ago$/`, false],
    [String.raw`/a\:b/`, true],
    ['/(a:b)/', true],
  ])('PAT-3 %s tests the address: %s', (pattern, expected) => {
    expect(compilePattern(pattern).hasColon).toBe(expected);
  });

  it('PAT-2 a leading ! negates and stays out of the match', () => {
    const pattern = compilePattern('!*delete*');
    expect(pattern).toMatchObject({ source: '!*delete*', negated: true });
    expect(pattern.matches('delete_repo')).toBe(true);
  });
});

describe('compilePatterns', () => {
  it.each([
    [['*github*', '!*delete*'], 'github_delete_repo', false],
    [['!*delete*', '*github*'], 'github_delete_repo', false],
    [['*github*', '!*delete*'], 'github_create_repo', true],
    [['*github*', '!*delete*'], 'slack_post', false],
    [['!*delete*'], 'anything', true],
    [['!*delete*'], 'delete_it', false],
    [['!*delete*', '!*drop*'], 'drop_it', false],
    [['a', 'b'], 'b', true],
    [[], 'a', false],
    [['gh:get_*'], 'get_x', true],
    [['gx:get_*'], 'get_x', false],
    [['*', '!gh:*'], 'get_x', false],
    [['/^gh:get/'], 'get_x', true],
    [['gh*'], 'get_x', false],
  ])('PAT-2 %j on %s is %s', (list, tool, expected) => {
    expect(compilePatterns(list).matches('gh', tool)).toBe(expected);
  });

  it('PAT-2 takes a single pattern as well', () => {
    expect(compilePatterns('get_*').matches('gh', 'get_x')).toBe(true);
  });

  it('PAT-2 order is irrelevant and negation always wins', COMPUTES_LONG, () => {
    const entry = fc.tuple(fc.boolean(), arbitraryGlob).filter(([, glob]) => print(glob) !== '');
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 5 }), arbitraryText, (entries, text) => {
        const hit = (glob: readonly Node[]): boolean => ends(glob, text, 0).includes(text.length);
        const positive = entries.filter(([negated]) => !negated).map(([, glob]) => glob);
        const negative = entries.filter(([negated]) => negated).map(([, glob]) => glob);
        const truth = !negative.some(hit) && (positive.some(hit) || (positive.length === 0 && negative.length > 0));
        const list = entries.map(([negated, glob]) => `${negated ? '!' : ''}${print(glob)}`);
        expect(compilePatterns(list).matches('s', text.join(''))).toBe(truth);
        expect(compilePatterns(list.toReversed()).matches('s', text.join(''))).toBe(truth);
      }),
      { numRuns: repetitions(250, 1000) },
    );
  });
});
