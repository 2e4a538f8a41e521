import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createPromotion, type Promotion } from '../../src/approvals/promotion.js';
import { systemClock } from '../../src/kernel/clock.js';
import { silentLog } from '../../src/kernel/log.js';

/** Promotion of files below a folder. */
export function promotionIn(root: string): Promotion {
  return createPromotion({
    pending: () => join(root, 'pending'),
    folderOf: (server) => server,
    clock: systemClock,
    log: silentLog,
  });
}

/** Writes files of the server `notes` that wait for approval. */
export async function exportFiles(root: string, files: Record<string, string>): Promise<void> {
  await mkdir(join(root, 'pending', 'notes'), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'pending', 'notes', name), text);
}

/** Every file of the version in force, by name. */
export function inForce(root: string): Record<string, string> | undefined {
  const folder = join(root, 'approved', 'notes');
  if (!existsSync(folder)) return undefined;
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
