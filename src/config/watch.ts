import { readFileSync, watch, type FSWatcher } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import type { Clock, Timer } from '../kernel/clock.js';
import { messageOf } from '../kernel/errors.js';
import { sha256 } from '../kernel/hash.js';
import { silentLog, type Log } from '../kernel/log.js';

/** How a config file is watched. */
export interface WatchOptions {
  readonly clock: Clock;
  /** Called once for each new content, never for the same bytes. */
  readonly onChange: () => void | Promise<void>;
  /** Called once when the file is gone. With it, also the return of the same bytes counts as a change. */
  readonly onMissing?: () => void | Promise<void>;
  /** How long a file must be left alone before it is read. */
  readonly debounceMs?: number;
  /** How often it is read anyway: no operating system reports every change. */
  readonly pollMs?: number;
  readonly log?: Log;
}

/** A watched file. */
export interface ConfigWatch {
  close(): void;
}

const EMPTY = sha256('');

/**
 * Reports changes of the content of a file (CFG-6). It watches the directory and not the file, because editors replace
 * files; a slow poll covers what the directory cannot show: the target of a symlink, a directory that was created
 * again. It waits for a deleted file. A file that is empty or gone counts only when two polls agree, because a slow writer
 * begins the same way.
 */
export function watchConfig(path: string, options: WatchOptions): ConfigWatch {
  const { clock, onChange, onMissing, debounceMs = 100, pollMs = 1500, log = silentLog } = options;
  let closed = false;
  let watcher: FSWatcher | undefined;
  let settling: Timer | undefined;
  let polling: Timer | undefined;
  let reading = false;
  let readAgain = false;
  let emptySeen = false;
  let missingSeen = false;
  let isMissing = false;
  let known: string | undefined;

  const report = (thrown: unknown): void => log.error('config.reload-failed', { path, reason: messageOf(thrown) });
  const notice = async (content: string): Promise<void> => {
    const hash = sha256(content);
    if (closed || hash === known) return;
    known = hash;
    log.info('config.changed', { path });
    await onChange();
  };

  const noticeMissing = async (fromPoll: boolean): Promise<void> => {
    const isSure = fromPoll && missingSeen;
    missingSeen ||= fromPoll;
    if (closed || isMissing || !isSure || !onMissing) return;
    isMissing = true;
    known = undefined;
    await onMissing();
  };

  const readOnce = async (fromPoll: boolean): Promise<void> => {
    let content: string;
    try {
      content = await readFile(path, 'utf8');
    } catch (thrown) {
      log.debug('config.unreadable', { path, reason: messageOf(thrown) });
      if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') await noticeMissing(fromPoll);
      return;
    }
    missingSeen = false;
    isMissing = false;
    const isNewlyEmpty = content === '' && known !== EMPTY;
    if (isNewlyEmpty && !(fromPoll && emptySeen)) {
      emptySeen = fromPoll;
      return;
    }
    emptySeen = false;
    await notice(content);
  };

  const read = (fromPoll: boolean): void => {
    if (closed) return;
    if (reading) {
      readAgain ||= !fromPoll;
      return;
    }
    reading = true;
    void readOnce(fromPoll)
      .catch(report)
      .finally(() => {
        reading = false;
        if (!readAgain) return;
        readAgain = false;
        read(false);
      });
  };

  const settle = (): void => {
    settling?.cancel();
    settling = clock.after(debounceMs, () => read(false));
  };

  const unwatch = (): void => {
    watcher?.close();
    watcher = undefined;
  };
  const arm = (): void => {
    try {
      watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
        if (name === null || name === basename(path)) settle();
      });
      watcher.on('error', unwatch);
    } catch (thrown) {
      log.debug('config.not-watched', { path, reason: messageOf(thrown) });
    }
  };

  const poll = (): void => {
    polling = clock.after(pollMs, () => {
      if (!watcher) arm();
      read(true);
      poll();
    });
  };

  try {
    known = sha256(readFileSync(path, 'utf8'));
  } catch (thrown) {
    log.debug('config.unreadable', { path, reason: messageOf(thrown) });
  }
  arm();
  poll();
  return {
    close() {
      closed = true;
      settling?.cancel();
      polling?.cancel();
      unwatch();
    },
  };
}
