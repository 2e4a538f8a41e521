import * as fc from 'fast-check';

const anyUnit = fc.integer({ min: 0, max: 0xff_ff }).map((code) => String.fromCharCode(code));

/** The first code point after the halves of surrogate pairs, and the number of these. */
const HALVES_END = 0xe0_00;
const HALVES = 0x8_00;

const toCharacter = (place: number): string =>
  String.fromCodePoint(place < HALVES_END - HALVES ? place : place + HALVES);

/** Any character; the unit `binary` of fast-check is the same, and makes a table of all of them, which takes a second. */
export const codePoint: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ff_ff - HALVES })
  .map(toCharacter, (value) => {
    const code = typeof value === 'string' ? (value.codePointAt(0) ?? -1) : -1;
    const place = code < HALVES_END ? code : code - HALVES;
    if (place < 0 || toCharacter(place) !== value) throw new Error(`${String(value)} is not one character.`);
    return place;
  });

/** Any text at all: control characters and halves of surrogate pairs included. */
export function anyText(constraints: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({
    unit: fc.oneof(
      anyUnit,
      fc.integer({ min: 0, max: 0x7f }).map((code) => String.fromCharCode(code)),
    ),
    ...constraints,
  });
}

/**
 * A segment of the path of an address, escapes included; `webSegment` and `webUrl` of fast-check are like it, and make the
 * table of all characters that `codePoint` does without.
 */
export const pathSegment: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom(..."abcxyzABCXYZ0189-._~!$&'()*+,;=:@") },
      { weight: 1, arbitrary: codePoint.map((character) => encodeURIComponent(character)) },
    ),
    { maxLength: 12 },
  )
  .map((characters) => characters.join(''));
