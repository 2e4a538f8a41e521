import { expect, it } from 'vitest';
import { runCrowd } from '../../bench/many-clients/clients.js';
import { fixture } from '../support/fixture.js';
import { lineMatching, workplace } from '../support/toolscout.js';

/** The whole count is run by hand with npm run bench:many-clients; a test should not take minutes. */
const CALLS = 20_000;

it(
  'A9 two hundred clients with equal request ids at once each get their own answers',
  { timeout: 300_000 },
  async () => {
    const rateLimit = { requestsPerSecond: 1_000_000, burstSize: 1_000_000 };
    const place = await workplace({ servers: { old: { ...fixture('legacy'), rateLimit } } });
    const toolscout = place.start('serve', '--port', '0');
    toolscout.stderr?.resume();
    const [, url] = await lineMatching(toolscout, /MCP endpoint\s+(http:\S+)/);
    const crowd = { url: url!, clients: 200, modern: 50, calls: CALLS, server: 'old', tool: 'echo' };
    const { matched, wrong, sessions } = await runCrowd(crowd);
    expect(wrong).toEqual([]);
    expect(matched).toBe(CALLS);
    expect(sessions).toBe(150);
  },
);
