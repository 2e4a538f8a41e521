import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../../test/support/fake-clock.js';
import { silentLog } from '../../kernel/log.js';
import type { Upstream } from '../../model/upstream.js';
import type { Core } from '../core.js';
import { viewerOf } from '../viewer.js';
import { subscribingVerbs } from './subscription-verbs.js';

/** Subscriptions to a server that agrees to every one of them. */
function setUp() {
  const upstream = {
    closed: false,
    watch: async () => async () => undefined,
    onClose: () => () => undefined,
  } as unknown as Upstream;
  const core = {
    deps: {
      clock: createFakeClock(),
      log: silentLog,
      pool: {
        onEvent: () => () => undefined,
        access: () => ({
          pace: async () => undefined,
          use: (task: (connection: Upstream) => Promise<void>) => task(upstream),
        }),
      },
    },
    catalog: { items: () => undefined },
    filled: async () => undefined,
    usable: (id: string) => ({ id }),
    hide: (text: string) => text,
  } as unknown as Core;
  const { verbs, stop } = subscribingVerbs(core);
  const subscribe = (name: string, uri: string): Promise<() => void> =>
    verbs['hosts.subscribe'](viewerOf({ name, scopes: new Set(['call']) }), 's', uri, { onUpdate: () => undefined });
  return { subscribe, stop };
}

describe('subscriptions', () => {
  it('A43 one principal cannot take the places of another', async () => {
    const { subscribe, stop } = setUp();
    const ends: Array<() => void> = [];
    for (let each = 0; each < 1000; each++) ends.push(await subscribe('ann', `note:${each}`));
    await expect(subscribe('ann', 'note:more')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: 'The limit of resource subscriptions is reached (1000 of this caller).',
    });
    await expect(subscribe('bob', 'note:1')).resolves.toEqual(expect.any(Function));
    ends[0]!();
    await new Promise(setImmediate);
    await expect(subscribe('ann', 'note:more')).resolves.toEqual(expect.any(Function));
    stop();
  });

  it('A43 all together have a bound too', async () => {
    const { subscribe, stop } = setUp();
    for (const name of ['ann', 'bob']) {
      for (let each = 0; each < 1000; each++) await subscribe(name, `note:${each}`);
    }
    await expect(subscribe('cid', 'note:1')).rejects.toMatchObject({
      message: 'The limit of resource subscriptions is reached (2000).',
    });
    stop();
  });
});
