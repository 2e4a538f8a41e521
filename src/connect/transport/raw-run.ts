import { seconds } from '../../kernel/text.js';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { LIMITS } from '../../kernel/limits.js';
import type { Server } from '../../model/server.js';
import type { Child, ChildExit, ChildKeeper } from './child.js';
import { commandOf } from './child-command.js';
import { childEnvironment } from './environment.js';
import type { Tap } from './tap.js';

/** Everything a program said. */
export interface RawExchange {
  readonly stdout: string;
  readonly stderr: string;
  /** How the program ended by itself; `undefined` when it was ended. */
  readonly exit?: ChildExit;
  readonly timedOut: boolean;
}

/** How a program is talked to. */
export interface RawOptions {
  /** Variables beside the configured ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** The first lines to write. */
  readonly opening: readonly string[];
  /** What is said after a line of its stdout; `done` ends the talk. */
  readonly reply?: (line: string) => readonly string[] | 'done';
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** Gets every line. */
  readonly tap?: Tap;
}

/** What is kept of either stream; a program that prints more has said what it has to say. */
const KEPT_CHARS = LIMITS.toolBytes * 8;

/** A program that has ended may still have something in its pipes. */
const LAST_WORDS_MS = 100;

/**
 * Starts the program of a local server, says something to it without the rules of the protocol, and
 * keeps what it prints until it is done, ends or its time is over; then nothing of it is left.
 */
export async function runRaw(
  server: Server,
  deps: {
    readonly clock: Clock;
    readonly children: ChildKeeper;
    readonly baseEnv: Readonly<Record<string, string | undefined>>;
  },
  options: RawOptions,
): Promise<RawExchange> {
  const { transport } = server;
  if (transport.type !== 'stdio') {
    throw new ToolscoutError(
      'INVALID_REQUEST',
      `"${server.id}" is a remote server. Raw output is available for local servers only.`,
    );
  }
  const names = Object.keys(options.env ?? {});
  options.tap?.('note', `start: ${server.shown.target}${names.length > 0 ? ` (with ${names.join(', ')})` : ''}`);
  const child = await deps.children.spawn({
    ...commandOf(transport),
    env: { ...childEnvironment(deps.baseEnv, transport.env), ...options.env },
    cwd: transport.cwd,
  });
  try {
    return await listen(child, deps.clock, options);
  } finally {
    void child.stop();
  }
}

async function listen(child: Child, clock: Clock, options: RawOptions): Promise<RawExchange> {
  const kept = { stdout: '', stderr: '' };
  const note: Tap = (from, text) => options.tap?.(from, text);
  const say = (text: string): void => {
    note('us', text);
    child.stdin.write(`${text}\n`);
  };

  let finish = (): void => {};
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const hear = (from: 'stdout' | 'stderr'): void => {
    let unfinished = '';
    const stream = child[from];
    stream.setEncoding('utf8');
    stream.on('data', (chunk: string) => {
      if (kept[from].length >= KEPT_CHARS) return;
      kept[from] += chunk;
      // Reading on would take the time of all other servers (A44).
      if (kept[from].length >= KEPT_CHARS) {
        stream.pause();
        finish();
      }
      unfinished = (unfinished + chunk).slice(-KEPT_CHARS);
      const whole = unfinished.split('\n');
      unfinished = whole.pop()!;
      for (const line of whole) {
        note(from, line);
        const reply = from === 'stdout' ? options.reply?.(line) : undefined;
        if (reply === 'done') finish();
        else for (const text of reply ?? []) say(text);
      }
    });
    stream.once('end', () => unfinished !== '' && note(from, unfinished));
  };
  hear('stdout');
  hear('stderr');
  for (const text of options.opening) say(text);

  let timedOut = false;
  const timer = clock.after(
    options.timeoutMs,
    () => {
      timedOut = true;
      finish();
    },
    { awaited: true },
  );
  const onAbort = (): void => finish();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  void child.exited.then(() => clock.after(LAST_WORDS_MS, finish, { awaited: true }));
  await done;
  timer.cancel();
  options.signal?.removeEventListener('abort', onAbort);
  options.signal?.throwIfAborted();
  const { exit } = child;
  if (timedOut) note('note', `ended after ${seconds(options.timeoutMs)} without an answer`);
  else if (exit) note('note', `exited with ${exit.signal ?? `code ${exit.code}`}`);
  return { ...kept, ...(exit && { exit }), timedOut };
}
