import { printable } from '../../kernel/text.js';

/** Where a command writes. Results go to `out`, everything else to `note`. */
export interface Terminal {
  /** Writes a line of the result to stdout. */
  out(line: string): void;
  /** Writes a value to stdout as JSON in which nothing can steer a terminal; on one line unless it is indented. */
  json(value: unknown, indent?: number): void;
  /** Writes a line of diagnostics to stderr. */
  note(line: string): void;
  readonly width: number;
  readonly paint: Paint;
  /** Shows a line that the next one replaces; does nothing unless stderr is a terminal. */
  status(line: string): void;
}

/** Colours, or their absence. */
export interface Paint {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

/** The streams of the process, as far as a command needs them. */
export interface Streams {
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean; readonly columns?: number };
  readonly stderr: { write(text: string): unknown; readonly isTTY?: boolean };
  /** `NO_COLOR` is set. */
  readonly plain: boolean;
}

// oxlint-disable-next-line no-control-regex
const SGR = /\u001b\[\d+m/g;

const sgr =
  (code: number, on: boolean) =>
  (text: string): string =>
    on ? `\u001b[${code}m${text}\u001b[0m` : text;

/** A terminal over the process's streams: colour and progress only where a person looks (CLI-1). */
export function createTerminal(streams: Streams): Terminal {
  const colour = !streams.plain && streams.stdout.isTTY === true;
  const live = streams.stderr.isTTY === true;
  let shown = false;
  const wipe = (): void => {
    if (shown) streams.stderr.write('\r\u001b[K');
    shown = false;
  };
  const out = (line: string): void => {
    wipe();
    streams.stdout.write(`${line}\n`);
  };
  return {
    out,
    json: (value, indent) => out(printable(JSON.stringify(value, null, indent))),
    note(line) {
      wipe();
      streams.stderr.write(`${colour && !live ? line.replaceAll(SGR, '') : line}\n`);
    },
    width: Math.max(40, Math.min(streams.stdout.columns ?? 120, 160)),
    paint: {
      bold: sgr(1, colour),
      dim: sgr(2, colour),
      red: sgr(31, colour),
      green: sgr(32, colour),
      yellow: sgr(33, colour),
      cyan: sgr(36, colour),
    },
    status(line) {
      if (!live) return;
      wipe();
      if (line === '') return;
      streams.stderr.write(line);
      shown = true;
    },
  };
}
