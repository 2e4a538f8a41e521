import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../test/support/fake-clock.js';
import { createLineage } from './lineage.js';

describe('the lineage of a toolscout', () => {
  it('CFG-5 recognises itself by its id, and another process with its configuration', () => {
    const clock = createFakeClock();
    const one = createLineage({ clock, configuration: 'c' });
    const same = createLineage({ clock, configuration: 'c' });
    const other = createLineage({ clock, configuration: 'd' });
    expect(one.admit(one.via())).toMatch(/itself/);
    expect(one.meet(one.instance())).toMatch(/itself/);
    expect(one.meet(same.instance())).toMatch(/same configuration/);
    expect(one.admit(other.via())).toBeUndefined();
    expect(createLineage({ clock }).meet(createLineage({ clock }).instance())).toBeUndefined();
  });

  it('CFG-5 of two that have each other as servers, the first stays and the second is refused', () => {
    const clock = createFakeClock();
    const [a, b] = [createLineage({ clock }), createLineage({ clock })];
    expect([b.admit(a.via()), a.meet(b.instance())]).toEqual([undefined, undefined]);
    expect(a.admit(b.via())).toMatch(/is a server of this one/);
    expect(b.meet(a.instance())).toMatch(/has this one as a server/);
    expect([b.admit(a.via()), a.meet(b.instance())]).toEqual([undefined, undefined]);
  });

  it('CFG-5 a loop of three is recognised by the chain', () => {
    const clock = createFakeClock();
    const [a, b, c] = [createLineage({ clock }), createLineage({ clock }), createLineage({ clock })];
    expect(b.admit(a.via())).toBeUndefined();
    expect(c.admit(b.via())).toBeUndefined();
    expect(a.admit(c.via())).toMatch(/is a server of this one/);
  });

  it('CFG-5 a connection that is gone is forgotten', async () => {
    const clock = createFakeClock();
    const [a, b] = [createLineage({ clock }), createLineage({ clock })];
    b.admit(a.via());
    a.meet(b.instance());
    await clock.advance(61_000);
    expect([a.admit(b.via()), b.meet(a.instance())]).toEqual([undefined, undefined]);
  });

  it('CFG-5 a child of a toolscout with the same configuration is nested', () => {
    const clock = createFakeClock();
    const parent = createLineage({ clock, configuration: 'c' });
    const child = createLineage({ clock, configuration: 'c', inherited: parent.variable() });
    expect([parent.isNested, child.isNested]).toEqual([false, true]);
    const other = createLineage({ clock, configuration: 'd', inherited: parent.variable() });
    expect(other.isNested).toBe(false);
    expect(parent.admit(other.via())).toMatch(/is a server of this one/);
    expect(createLineage({ clock, configuration: 'c', inherited: other.variable() }).isNested).toBe(true);
  });

  it('A28 skips invalid ids, and the chain has a bound', () => {
    const clock = createFakeClock();
    const one = createLineage({ clock, inherited: `x,${'y'.repeat(1e6)},,.` });
    expect(one.isNested).toBe(false);
    expect(one.meet('')).toBeUndefined();
    for (let at = 0; at < 1000; at++) one.admit(createLineage({ clock }).via());
    expect(one.via().split(',')).toHaveLength(16);
  });
});
