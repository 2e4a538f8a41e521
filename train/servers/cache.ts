import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where collected servers are kept, outside of the repository. */
export const CACHE = process.env['TOOLSCOUT_REAL_SERVERS'] ?? join(tmpdir(), 'toolscout-real-servers');

/** The file of a package: a scope's slash is written as two underscores. */
export function fileOf(name: string): string {
  return `${name.replace(/^@/, '').replace('/', '__')}.json`;
}
