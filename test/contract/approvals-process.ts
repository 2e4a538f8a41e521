/**
 * One process that learns, asks and approves without end, for tests that kill it:
 * `node --import tsx approvals-process.ts <directory> <name> <first>`. Every line on stdout is the
 * hash of an approval that was acknowledged.
 */
import { writeSync } from 'node:fs';
import { createApprovals } from '../../src/approvals/index.js';
import { systemClock } from '../../src/kernel/clock.js';
import { hashJson } from '../../src/kernel/hash.js';
import { silentLog } from '../../src/kernel/log.js';
import { openSqliteStore } from '../../src/store/index.js';
import { stdioServer } from '../support/test-server.js';

const [directory = '', name = '', first = '0'] = process.argv.slice(2);
const store = await openSqliteStore({ directory, clock: systemClock, log: silentLog, busyTimeoutMs: 20_000 });
const approvals = createApprovals({ store, clock: systemClock, log: silentLog });
const server = stdioServer(name, { command: 'x' });

for (let version = Number(first); ; version++) {
  const definition = { name: 'read', description: `version ${version}` };
  const hash = hashJson(definition);
  const tools = [{ name: 'read', hash, definition, categories: [] }];
  await approvals.admit(server, { tools }, { policy: 'manual', fresh: true });
  const ruling = { by: name, at: systemClock.now() };
  await approvals.approve(server, [{ about: 'tool', tool: 'read' }], { ruling, expected: hash });
  writeSync(1, `${hash}\n`);
}
