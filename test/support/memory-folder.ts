import { readFileSync, statfsSync } from 'node:fs';

const MEMORY = '/dev/shm';

/** What all tests write at the same time is far less. */
const ROOM_BYTES = 2 ** 31;

/**
 * A folder for temporary files that is kept in memory, where the machine has one with enough room from which programs may be started.
 * On a disk many tests do little else than wait until what they wrote is durable.
 */
export function memoryFolder(): string | undefined {
  try {
    const mount = readFileSync('/proc/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .find(([, place]) => place === MEMORY);
    if (!mount || mount[3]!.split(',').some((option) => option === 'noexec' || option === 'ro')) return undefined;
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : undefined;
  } catch {
    // Not Linux, or not allowed to look: temporary files go where they always go.
    return undefined;
  }
}
