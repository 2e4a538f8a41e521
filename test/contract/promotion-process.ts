/**
 * One process that promotes exported files without end, for tests that kill it:
 * `node promotion-process.mjs <root>`. It writes `pending/notes` anew for every version and says each
 * version on stdout before it promotes it.
 */
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createPromotion } from '../../src/approvals/promotion.js';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';

const [root = '', first = '0'] = process.argv.slice(2);
const pending = join(root, 'pending');
const promotion = createPromotion({
  pending: () => pending,
  folderOf: (server) => server,
  clock: systemClock,
  log: silentLog,
});

for (let version = Number(first); ; version++) {
  mkdirSync(join(pending, 'notes'), { recursive: true });
  for (let file = 0; file < 4; file++) {
    writeFileSync(join(pending, 'notes', `tool${file}.rtfs`), `version ${version}\n`.repeat(50 + file));
  }
  writeSync(1, `${version}\n`);
  await promotion.promote('notes');
}
