import { isIPv4 } from 'node:net';
import { describe, expect, it } from 'vitest';
import { validateConfig } from '../../src/config/index.js';
import { parseConfig } from '../../src/config/read/parse.js';
import { checkEndpoint } from '../../src/connect/oauth/endpoint.js';
import { isInternalHost } from '../../src/net/address.js';
import { ToolscoutError } from '../../src/kernel/errors.js';
import { createLineReader, isMessage } from '../../src/protocol/lines.js';
import { countTrials, formOf } from '../support/long-form.js';
import { patient } from '../support/patience.js';

const RUNS = formOf(2000, 1_000_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_116);

/** Pieces that parsers trip over. */
const PIECES = [
  ...'{}[]":,\\\n\r\t\0 &*!|>-#=%@/?.',
  ...'__proto__ constructor \u2028 \ud800 \u0130 １ 1e999 -0 null true "\\u0000" ${A:-${B}} %00 \\\\'.split(' '),
  ...'jsonrpc 2.0 method id params result servers command args url toolRules pattern'.split(' '),
  ...'&a[*a] <<:*a !!js/function [[x]] /(a+)+$/ 0x7f.1 [::ffff:127.0.0.1] javascript:'.split(' '),
];

/** Small and repeatable. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Variants of good inputs: cut, doubled, with pieces put in and bytes changed. */
function* variantsOf(seeds: readonly string[], random: (below: number) => number): Generator<string> {
  countTrials(RUNS);
  for (let run = 0; run < RUNS; run++) {
    let text = seeds[random(seeds.length)]!;
    for (let edits = 1 + random(4); edits > 0; edits--) {
      const at = random(text.length + 1);
      const piece = PIECES[random(PIECES.length)]!;
      const kind = random(5);
      if (kind === 0) text = text.slice(0, at) + piece + text.slice(at);
      else if (kind === 1) text = text.slice(0, at) + text.slice(at + 1 + random(8));
      else if (kind === 2) text = text.slice(0, at) + piece.repeat(1 + random(40)) + text.slice(at + 1);
      else if (kind === 3) text = text.slice(0, at) + text.slice(random(at + 1));
      else text = text.slice(0, at) + String.fromCharCode(random(0x10000)) + text.slice(at + 1);
    }
    yield text.slice(0, 4000);
  }
}

const nameOf = (text: string): string => `seed ${SEED}: ${JSON.stringify(text)}`;

// The long form takes minutes.
describe('hostile bytes', { timeout: patient(1_800_000) }, () => {
  it('R16 A26 lines of any bytes become messages or nothing, however they are cut', () => {
    const random = randomOf(SEED);
    const seeds = [
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,2,{"b":null}]}}}\n',
      '{"jsonrpc":"2.0","id":"a","result":{"content":[]}}\n{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"m"}}\n',
    ];
    let messages = 0;
    for (const text of variantsOf(seeds, random)) {
      const reader = createLineReader(2048, (line) => {
        let value: unknown;
        try {
          value = JSON.parse(line);
        } catch {
          // What is no JSON is no message.
          value = undefined;
        }
        if (!isMessage(value)) return;
        messages++;
        const { id, method } = value;
        expect(['string', 'number', 'undefined'], nameOf(text)).toContain(typeof id);
        expect(['string', 'undefined'], nameOf(text)).toContain(typeof method);
      });
      const bytes = Buffer.from(text);
      const cut = random(bytes.length + 1);
      if (reader.take(bytes.subarray(0, cut))) reader.take(bytes.subarray(cut));
    }
    expect(messages).toBeGreaterThan(RUNS / 100);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it.each([
    [
      'json',
      '{"timeout":5,"servers":{"a":{"command":"x","args":["y"],"env":{"K":"${V:-d}"}}},"toolRules":[{"pattern":"/a+/"}]}',
    ],
    ['jsonc', '{ // five\n "servers": {"a": {"url": "https://example.org/mcp",},},\n}'],
    [
      'yaml',
      'timeout: 5\nservers:\n  a: {command: x, args: [y]}\ntoolRules:\n  - pattern: "*delete*"\n    enabled: false\n',
    ],
    ['toml', 'timeout = 5\n[servers.a]\ncommand = "x"\n[[toolRules]]\npattern = "a*"\n'],
  ])('R16 A30 a config of any bytes is read or refused with a reason: %s', async (format, seed) => {
    const before = Object.getOwnPropertyNames(Object.prototype).toSorted().join();
    let read = 0;
    // Each of these costs a parser and a schema.
    let left = RUNS / 10;
    for (const text of variantsOf([seed], randomOf(SEED))) {
      if (left-- <= 0) break;
      try {
        const { problems } = validateConfig(await parseConfig(text, `c.${format}`));
        read++;
        for (const { path, message } of problems) expect(`${path}${message}`, nameOf(text)).not.toBe('');
      } catch (thrown) {
        expect(thrown, nameOf(text)).toBeInstanceOf(ToolscoutError);
        expect((thrown as ToolscoutError).code, nameOf(text)).toBe('CONFIGURATION_ERROR');
      }
    }
    expect(read).toBeGreaterThan(0);
    expect(Object.getOwnPropertyNames(Object.prototype).toSorted().join()).toBe(before);
  });

  it('R16 A19 an address of any bytes is judged, and one that is inside is never called public', () => {
    const seeds = [
      'http://127.0.0.1/mcp',
      'http://[::1]:8080/',
      'https://[::ffff:127.0.0.1]/',
      'http://2130706433/',
      'http://0x7f.1/',
      'http://localhost/',
      'https://169.254.169.254/latest',
    ];
    let judged = 0;
    for (const text of variantsOf(seeds, randomOf(SEED))) {
      if (!URL.canParse(text)) continue;
      const { hostname } = new URL(text);
      const inside = isInternalHost(hostname);
      judged++;
      // The spellings of loopback that the parser of addresses folds into one.
      const isInside = isIPv4(hostname) && /^(?:0|10|127|169\.254|192\.168)\./.test(hostname);
      if (isInside || /^(?:localhost\.?|\[::1\]|\[::ffff:7f[\da-f:]*\])$/.test(hostname)) {
        expect(inside, nameOf(text)).toBe(true);
      }
      try {
        const checked = checkEndpoint(text, 'authorization_endpoint', { server: 's', url: 'https://public.example/' });
        expect(checked.protocol, nameOf(text)).toBe('https:');
      } catch (thrown) {
        expect(thrown, nameOf(text)).toBeInstanceOf(ToolscoutError);
      }
    }
    expect(judged).toBeGreaterThan(RUNS / 10);
  });
});
