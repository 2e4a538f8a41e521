import { setImmediate as nextTurn } from 'node:timers/promises';

/** Items that are worked on before others have their turn; some milliseconds of work at the most. */
const SLICE = 16;

/** Works on many items without blocking the event loop: it yields after every few of them, after each where one takes long. */
export async function cooperatively<T>(items: Iterable<T>, work: (item: T) => void, slice = SLICE): Promise<void> {
  let done = 0;
  for (const item of items) {
    work(item);
    done++;
    if (done % slice === 0) await nextTurn();
  }
}

/** Repeats a short step until it says that nothing is left to do; before each of them others have their turn. */
export async function inSlices(step: () => boolean): Promise<void> {
  do await nextTurn();
  while (step());
}
