import * as fc from 'fast-check';

const anyUnit = fc.integer({ min: 0, max: 0xff_ff }).map((code) => String.fromCharCode(code));

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
