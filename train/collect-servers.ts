/**
 * Collects what real MCP servers say: installs each package of `servers/packages.txt` outside of the repository, starts it without a network and without
 * rights, and writes its lists into a folder, one file a server. `train-findings.ts` learns from them as harmless. Nothing of it belongs into the repository.
 *
 *   npx tsx train/collect-servers.ts [--cache <folder>] [--list <file>] [--at-once 3] [--installer bun]
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync, chmodSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { askServer } from './servers/ask.js';
import { CACHE, fileOf } from './servers/cache.js';
import { readPinned, unpack } from './servers/unpack.js';

const { values } = parseArgs({
  options: {
    cache: { type: 'string', default: CACHE },
    list: { type: 'string', default: join(import.meta.dirname, 'servers', 'packages.txt') },
    installer: { type: 'string', default: 'npm' },
    'at-once': { type: 'string', default: '3' },
  },
});

const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const pinned = readFileSync(values.list, 'utf8')
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('#'))
  .map(readPinned);
mkdirSync(values.cache, { recursive: true });

let next = 0;
let collected = 0;
async function work(): Promise<void> {
  for (let each = pinned[next++]; each; each = pinned[next++]) {
    const file = join(values.cache, fileOf(each.name));
    if (existsSync(file)) {
      collected++;
      continue;
    }
    const folder = join(values.cache, 'unpacked', fileOf(each.name));
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, 0o777);
    try {
      const program = await unpack(each, folder, values.installer);
      const { serverInfo, instructions, ...lists } = await askServer(program);
      const meta = { package: each.name, version: program.version, serverInfo, instructions };
      writeFileSync(file, JSON.stringify({ meta, ...lists }));
      collected++;
      say(
        `${each.name}@${program.version}${each.args.map((arg) => ` ${arg}`).join('')}  # ${lists.tools.length} tools`,
      );
    } catch (error) {
      say(
        `# ${each.name}: ${(error instanceof Error ? error.message : String(error)).replaceAll('\n', ' ').slice(0, 300)}`,
      );
    } finally {
      // What it started may still write there; a folder that stays is no reason to stop.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }).catch(() => undefined);
    }
  }
}
await Promise.all(Array.from({ length: Number(values['at-once']) }, work));
say(`# ${collected} of ${pinned.length} servers are in ${values.cache}`);
