import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Something about the files of a store that a person should know, and what to do about it. */
export interface StoreRemark {
  readonly message: string;
  readonly next: string;
}

/** Looks at the files around a database: what was set aside as damaged, and who else can look into the directory. */
export async function remarksOn(database: string): Promise<StoreRemark[]> {
  const directory = dirname(database);
  const prefix = `${basename(database)}.damaged-`;
  const names = (await readdir(directory)).toSorted();
  const remarks = names
    .filter((name) => name.startsWith(prefix) && !/-(wal|shm)$/.test(name))
    .map((name) => ({
      message: `${join(directory, name)} was damaged and set aside; its approvals and audit records are no longer available`,
      next: 'look at what is trusted now with toolscout pending and toolscout tools, then remove the file',
    }));
  const mode = (await lstat(directory)).mode & 0o777;
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    remarks.push({
      message: `${directory} is open to other users of this machine (mode ${mode.toString(8)}), since it holds other files too`,
      next: `close it with chmod 700, or choose another with --state-dir`,
    });
  }
  return remarks;
}
