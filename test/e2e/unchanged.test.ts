import { spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import { fixture } from '../support/fixture.js';
import { rawHost } from '../support/raw-host.js';
import { workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

it('META-3 what a server answers reaches the host byte for byte, vendor fields and all', STARTS_PROCESSES, async () => {
  const server = fixture('legacy');
  const place = await workplace({ servers: { old: server } });
  const direct = await rawHost(spawn(server.command, server.args, { stdio: 'pipe' }), 'legacy');
  const through = await rawHost(place.start('serve', '--stdio'), 'legacy');
  const calls: Array<[string, JsonObject]> = [
    ['echo', { message: 'grüß \u0000 👋' }],
    ['add', { a: 1, b: 2 }],
    ['image', {}],
    ['fail', {}],
    ['structured', { value: { deep: [1, null, 'x'] } }],
  ];
  for (const [tool, args] of calls) {
    const answer = await through.call('execute_tool', { server: 'old', tool, arguments: args });
    expect(JSON.stringify(answer)).toBe(JSON.stringify(await direct.call(tool, args)));
  }
});
