import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../src/kernel/json.js';

const FILE = fileURLToPath(new URL('../../../shared/data/registry-seed.json', import.meta.url));

/** Why a test that needs {@link readPublishedEntries} is skipped. */
export const NO_PUBLISHED_ENTRIES = 'The 471 published registry entries are not part of the repository.';

/** Entries as publishers wrote them to the official registry, or `undefined` where they are absent: they may not be redistributed. */
export function readPublishedEntries(): JsonObject[] | undefined {
  if (!existsSync(FILE)) return undefined;
  return (JSON.parse(readFileSync(FILE, 'utf8')) as { servers: JsonObject[] }).servers;
}
