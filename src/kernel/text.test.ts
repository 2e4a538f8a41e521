import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { counted, editDistance, mebibytes, mostTokens, nearestNames, oneLine, printable } from './text.js';

/** Any text, control characters and halves of surrogate pairs included. */
const plainText = anyText({ maxLength: 60 });
const hostileText = fc
  .array(
    fc.oneof(
      plainText,
      fc.constantFrom(
        '\u001b[2J',
        '\u001b]8;;https://evil\u0007',
        '\r',
        '\u009b31m',
        '\u202e',
        '\u061c',
        '\ufff9',
        '\u200b',
        '\u2028',
        '\u034f',
        '\u3164',
        '\uffa0',
        '\ufeff',
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(''));

/** Nothing but what moves no cursor and hides no text; tab and line end are left to the caller. */
const HARMLESS =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]*$/;

/** Optimal string alignment by its definition: the slow way that is plainly right. */
function alignment(a: string, b: string): number {
  const cost: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  for (let j = 0; j <= b.length; j++) cost[0]![j] = j;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const swap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      cost[i]![j] = Math.min(
        cost[i - 1]![j]! + 1,
        cost[i]![j - 1]! + 1,
        cost[i - 1]![j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1),
        swap ? cost[i - 2]![j - 2]! + 1 : Infinity,
      );
    }
  }
  return cost[a.length]![b.length]!;
}

const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '_'), maxLength: 8 });

describe('printable', () => {
  it('A16 nothing that moves a cursor, hides text or starts an escape survives, whatever the text', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(printable(text)).toMatch(HARMLESS);
      }),
    );
  });

  it('A16 R15 doing it twice changes nothing more, and harmless text is not changed at all', () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        expect(printable(printable(text))).toBe(printable(text));
      }),
    );
    fc.assert(
      fc.property(hostileText, (text) => {
        if (HARMLESS.test(text)) expect(printable(text)).toBe(text);
      }),
    );
    expect(printable('grüß dich 👋\n\tnaïve')).toBe('grüß dich 👋\n\tnaïve');
  });

  it('A16 what was there can still be read, as an escape', () => {
    expect(printable('\u001b[2J\r\u009b1m\u200b')).toBe('\\u001b[2J\\u000d\\u009b1m\\u200b');
    expect(printable('a\u3164b\uffa0c\u034f')).toBe('a\\u3164b\\uffa0c\\u034f');
  });

  it('A34 JSON stays JSON of the same value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(printable(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('oneLine', () => {
  it('FIND-1 any text becomes one line of at most so many characters', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 40 }), (text, length) => {
        const line = oneLine(text, length);
        expect(line.length).toBeLessThanOrEqual(length);
        expect(line).not.toMatch(/[\n\r\t\u2028\u2029]/);
        expect(line).toBe(line.trim());
      }),
    );
  });

  it('FIND-1 R15 a line that fits stays, and doing it twice changes nothing more', () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 40 }), (text, length) => {
        const line = oneLine(text, length);
        expect(oneLine(line, length)).toBe(line);
      }),
    );
    expect(oneLine('  two \n words ', 20)).toBe('two words');
  });

  it('FIND-1 a longer text is cut at a word, without a dangling comma and without half a character', () => {
    expect(oneLine('Reads a file, then writes it.', 15)).toBe('Reads a file…');
    expect(oneLine('Supercalifragilistic', 10)).toBe('Supercali…');
    expect(oneLine('12345678👋👋', 10)).toBe('12345678…');
    expect(oneLine('abc', 1)).toBe('…');
  });
});

describe('editDistance', () => {
  it('META-4 is the number of typing errors between two words: wrong, missing, added and swapped letters', () => {
    fc.assert(
      fc.property(word, word, fc.integer({ min: 0, max: 9 }), (a, b, limit) => {
        const expected = alignment(a, b);
        expect(editDistance(a, b, limit)).toBe(expected > limit ? Infinity : expected);
      }),
    );
  });

  it('META-4 R15 is the same in both directions, and zero only for equal words', () => {
    fc.assert(
      fc.property(plainText, plainText, (a, b) => {
        expect(editDistance(a, b, 100)).toBe(editDistance(b, a, 100));
        expect(editDistance(a, b, 100) === 0).toBe(a === b);
      }),
    );
  });
});

describe('nearestNames', () => {
  it('META-4 a misspelt name finds the right one first', () => {
    const known = ['read_text_file', 'read_media_file', 'write_file', 'list_directory'];
    expect(nearestNames('raed_text_file', known)[0]).toBe('read_text_file');
    expect(nearestNames('wirte_file', known)).toContain('write_file');
    expect(nearestNames('LIST_DIRECTORY', known)[0]).toBe('list_directory');
    expect(nearestNames('directory', known)[0]).toBe('list_directory');
  });

  it('META-4 nothing is offered for an empty or a wholly different name', () => {
    expect(nearestNames('', ['echo'])).toEqual([]);
    expect(nearestNames('zzzzqqqq', ['echo', 'add'])).toEqual([]);
    expect(nearestNames('c', ['a', 'b', 'count'])).toEqual([]);
    expect(nearestNames('A', ['a', 'b'])).toEqual(['a']);
  });

  it('META-4 answers are known names, each once, no more than asked for, and do not depend on the order of the known', () => {
    const names = fc.uniqueArray(word, { maxLength: 12 });
    fc.assert(
      fc.property(word, names, fc.integer({ min: 0, max: 5 }), (wanted, known, count) => {
        const answer = nearestNames(wanted, known, count);
        expect(answer.length).toBeLessThanOrEqual(count);
        expect(new Set(answer).size).toBe(answer.length);
        expect(known).toEqual(expect.arrayContaining(answer));
        expect(nearestNames(wanted, known.toReversed(), count)).toEqual(answer);
      }),
    );
  });

  it('META-4 FIND-4 a name of any length and any bytes is compared without trouble', () => {
    expect(nearestNames('x'.repeat(1_000_000), ['echo', 'x'.repeat(201)])).toEqual(['x'.repeat(201)]);
    fc.assert(
      fc.property(hostileText, (wanted) => {
        expect(Array.isArray(nearestNames(wanted, ['echo']))).toBe(true);
      }),
    );
  });
});

describe('nearestNames among very many', () => {
  it('META-4 A24 compares a bounded number of letters', () => {
    const wanted = 'a'.repeat(200);
    const others = Array.from({ length: 1000 }, (_, at) => `${'b'.repeat(190)}${at}`);
    const close = `${'a'.repeat(199)}b`;
    expect(nearestNames(wanted, [close, ...others])).toEqual([close]);
    expect(nearestNames(wanted, [...others, close])).toEqual([]);
    expect(nearestNames(wanted, [...others, `x${wanted}`])).toEqual([`x${wanted}`]);
  });
});

describe('mostTokens', () => {
  const lower = fc.stringMatching(/^[a-z]{1,14}$/);
  const rare = fc.stringMatching(/^[qzxjvkwy]{1,14}$/);
  const mixed = fc.stringMatching(/^[a-zA-Z0-9._ -]{1,20}$/);

  it('META-8 is never below what a tokenizer makes of a name, whatever the name', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(lower, rare, mixed, plainText), { maxLength: 6 }), (names) => {
        const text = names.join(', ');
        expect(mostTokens(text), text).toBeGreaterThanOrEqual(countTokens(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('META-8 stays an upper bound for names chosen to cost more than their length suggests', () => {
    const letters = 'abcdefghijklmnopqrstuvwxyz';
    for (let seed = 0; seed < 6; seed++) {
      let name = Array.from({ length: 4 + 2 * seed }, (_, i) => letters[(seed * 7 + i * 11) % 26]).join('');
      const excess = (text: string): number => countTokens(`a, ${text}`) - 2 - mostTokens(text);
      for (let step = 0; step < 400; step++) {
        const at = (step * 5 + seed) % name.length;
        const next = name.slice(0, at) + letters[(step * 17 + seed * 3) % 26]! + name.slice(at + 1);
        if (excess(next) >= excess(name)) name = next;
        expect(excess(name), name).toBeLessThanOrEqual(0);
      }
    }
  });

  it('META-8 is not much more than that for names that people give', () => {
    const names = 'github, filesystem, kubernetes, postgres, salesforce, hubspot, stripe, sentry, grafana, spotify';
    expect(mostTokens(names)).toBeLessThan(names.length);
  });
});

it('EXEC-3 a limit of bytes is written in MiB', () => {
  expect([32 << 20, 1.5 * (1 << 20)].map(mebibytes)).toEqual(['32 MiB', '1.5 MiB']);
});

describe('counted', () => {
  it('CLI-1 one is one, everything else is many', () => {
    expect([0, 1, 2].map((count) => counted(count, 'tool'))).toEqual(['0 tools', '1 tool', '2 tools']);
    expect([1, 3].map((count) => counted(count, 'query', 'queries'))).toEqual(['1 query', '3 queries']);
  });
});
