import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Waits for the next output of a process. One that ends before fails the test at once, instead of at its time limit. */
export async function nextOutput({ stdout }: ChildProcess): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const ended = once(stdout!, 'end', { signal }).then(() => {
    throw new Error('The process ended before it had printed what the test waits for.');
  });
  try {
    await Promise.race([once(stdout!, 'data', { signal }), ended]);
  } finally {
    over.abort();
    await ended.catch(() => undefined);
  }
}
