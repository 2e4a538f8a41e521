import { describe, expect, it } from 'vitest';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { scriptedServer } from '../../../../test/support/scripted-server.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import type { Exchange } from '../exchange.js';
import { createListItems } from './list-items.js';
import { createServerSurface } from './server-surface.js';

describe('one server passed through', STARTS_PROCESSES, () => {
  it.each(['vendor/buy', 'tools/Call', 'resources/read ', 'tasks/get', 'server/discover', 'sampling/createMessage'])(
    'A46 the method %j of a host does not reach the server',
    async (method) => {
      const server = await scriptedServer();
      const gateway = await openToolscout({ servers: { h: { url: server.url } } });
      const surface = (await createServerSurface(gateway, 'h', createListItems()))(false);
      const before = server.count(method);
      const exchange = { host: { era: 'legacy', capabilities: {} }, principal: 'local' } as unknown as Exchange;
      await expect(surface.answer(method, { name: 'look' }, exchange)).rejects.toMatchObject({
        upstream: { code: -32_601 },
      });
      expect(server.count(method)).toBe(before);
    },
  );
});
