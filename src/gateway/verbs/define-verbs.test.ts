import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Viewer } from '../../model/viewer.js';
import type { Gateway } from '../contract.js';
import { bindVerbs } from '../bind-verbs.js';
import { LOCAL_VIEWER } from '../viewer.js';
import { defineVerbs, type Verbs, type VerbTable } from './define-verbs.js';

// The types are the test: `npm run types` fails where an error that is expected here does not come.
describe('verbs', () => {
  it('S12 a verb that forgets the viewer does not compile', () => {
    const tables = [
      // @ts-expect-error There is no parameter at all.
      () => defineVerbs({ 'servers.list': async () => [] }),
      () =>
        defineVerbs({
          // @ts-expect-error The same as a method.
          async 'tools.offered'() {
            return [];
          },
        }),
      // @ts-expect-error The name of the skill is where the viewer comes.
      () => defineVerbs({ 'skills.check': async (id: string) => ({ id }) as never }),
      () =>
        defineVerbs({
          // @ts-expect-error Without a type of its own it is taken for the viewer, which has no length.
          search: async (query) => ({ hits: [], nearest: [String(query.length)], learning: [], unavailable: [] }),
        }),
      // @ts-expect-error One that has no use for the viewer must say so too.
      () => defineVerbs({ ready: () => Promise.resolve() }),
    ];
    expect(tables).toHaveLength(5);
    const ready = defineVerbs({ ready: (_viewer) => Promise.resolve() });
    expectTypeOf(ready).toEqualTypeOf<VerbTable<'ready'>>();
  });

  it('S12 only what was defined as verbs can be bound, and every verb of the contract must be', () => {
    const loose = {} as Verbs;
    const partial = {} as VerbTable<'ready' | 'search'>;
    const tables = [
      // @ts-expect-error It was not checked.
      () => bindVerbs(loose, LOCAL_VIEWER),
      // @ts-expect-error Verbs are missing.
      () => bindVerbs(partial, LOCAL_VIEWER),
      // @ts-expect-error The viewer is missing.
      () => bindVerbs({} as VerbTable),
    ];
    expect(tables).toHaveLength(3);
    expectTypeOf<Verbs['search']>().parameter(0).toEqualTypeOf<Viewer>();
    expectTypeOf<Parameters<Verbs['call']>>().toEqualTypeOf<[viewer: Viewer, ...Parameters<Gateway['call']>]>();
    type Verb<Facet extends keyof Gateway> = Gateway[Facet] extends (...args: never) => unknown
      ? Exclude<Facet, 'as'>
      : `${Facet}.${keyof Gateway[Facet] & string}`;
    expectTypeOf<keyof Verbs>().toEqualTypeOf<{ [Facet in keyof Gateway]: Verb<Facet> }[keyof Gateway]>();
  });
});
