import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../../test/support/fake-clock.js';
import { createRequestStates } from './request-state.js';

describe('the state a host carries between rounds', () => {
  it('S8 comes back as what it was, once', () => {
    const states = createRequestStates(createFakeClock());
    const sealed = states.seal({ call: 'x', deep: [1, { a: 'ü' }] }, 'ann');
    expect(states.open(sealed, 'ann')).toEqual({ call: 'x', deep: [1, { a: 'ü' }] });
    expect(states.open(sealed, 'ann')).toBeUndefined();
  });

  it('S8 a changed byte, another binding, another process and anything else is refused', () => {
    const states = createRequestStates(createFakeClock());
    const sealed = states.seal({ call: 'x' }, 'ann');
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.constantFrom('A', 'b', '0', '.', '=', '-', 'é'), (at, put) => {
        fc.pre(sealed[at] !== put);
        expect(states.open(sealed.slice(0, at) + put + sealed.slice(at + 1), 'ann')).toBeUndefined();
      }),
    );
    expect(states.open(sealed, 'bob')).toBeUndefined();
    expect(createRequestStates(createFakeClock()).open(sealed, 'ann')).toBeUndefined();
    for (const junk of [undefined, null, 1, {}, '', '.', '..', 'a.b', 'x'.repeat(600_000)]) {
      expect(states.open(junk, 'ann')).toBeUndefined();
    }
    expect(states.open(sealed, 'ann')).toEqual({ call: 'x' });
  });

  it('S8 NEG-6 nobody reads what a server keeps in it', () => {
    const sealed = createRequestStates(createFakeClock()).seal({ server: 'ssn 123-45-6789' }, 'ann');
    expect(Buffer.from(sealed, 'base64url').toString('latin1')).not.toContain('123-45');
    expect(sealed).toMatch(/^[\w-]+$/);
  });

  it('S8 expires', async () => {
    const clock = createFakeClock();
    const states = createRequestStates(clock);
    const sealed = states.seal({ call: 'x' }, 'ann');
    await clock.advance(600_001);
    expect(states.open(sealed, 'ann')).toBeUndefined();
  });
});
