import { PassThrough } from 'node:stream';
import { messageOf } from '../../kernel/errors.js';
import { LIMITS } from '../../kernel/limits.js';
import type { ModeName } from '../../model/config.js';
import { createTerminal } from '../../front/cli/terminal.js';
import { serve } from '../serve.js';
import { createByteLines } from './byte-lines.js';
import type { ForwardOptions } from './forward-options.js';
import type { LinkEvents, ServiceLink } from './relay.js';

/** Serves a host in this process, after its shared service became unavailable. */
export function serveAlone({ wish, open }: ForwardOptions, events: LinkEvents, streams: NodeJS.Process): ServiceLink {
  const stdin = new PassThrough();
  const stdout = new PassThrough();
  const lines = createByteLines(2 * LIMITS.lineBytes, events.onLine);
  stdout.on('data', (chunk: Buffer) => void lines.take(chunk));
  const own = Object.create(streams, { stdin: { value: stdin }, stdout: { value: stdout } }) as NodeJS.Process;
  const { stderr } = streams;
  const terminal = createTerminal({ stdout: stderr, stderr, plain: true });
  serve(
    {
      ...open,
      logLevel: 'warn',
      learnAtStart: true,
      watch: true,
      stdio: true,
      server: wish.server,
      skill: wish.skill,
      admin: wish.admin,
      mode: wish.mode as ModeName | undefined,
      onNotice: (notice) => terminal.note(notice),
    },
    { terminal, streams: own },
  ).catch((thrown: unknown) => {
    // No process is left that could serve this host.
    terminal.note(messageOf(thrown));
    streams.exit(1);
  });
  return { write: (line) => void stdin.write(line), close: () => stdin.end() };
}
