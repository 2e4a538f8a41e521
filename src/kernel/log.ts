import { printable } from './text.js';

/** How much is said. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

/** Fields of a log line; values are JSON. */
export type LogFields = Record<string, unknown>;

/** Where diagnostics go. Events have dotted names: `connect.lost`, `discover.done`. */
export interface Log {
  debug(event: string, fields?: LogFields): void;
  info(event: string, fields?: LogFields): void;
  warn(event: string, fields?: LogFields): void;
  error(event: string, fields?: LogFields): void;
}

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error', 'silent'];

/** Characters of lines that wait together; then they are written at once. */
const MAX_HELD = 64 * 1024;

/** A log that writes one JSON line an event; text is masked and made printable before it leaves. */
export function createLog(options: {
  readonly level: LogLevel;
  readonly write: (line: string) => void;
  readonly now: () => number;
  readonly mask?: (text: string) => string;
  /** Makes fields fit to be written. */
  readonly redact?: (fields: LogFields) => LogFields;
  /** Runs a task a moment later: until then lines wait and are written together. A warning or an error takes them along at once. */
  readonly later?: (task: () => void) => void;
}): Log {
  const least = ORDER.indexOf(options.level);
  const mask = options.mask ?? ((text) => text);
  const redact = options.redact ?? ((fields) => fields);
  const atOnce = ORDER.indexOf('warn');
  let held = '';
  const write = (): void => {
    const lines = held;
    held = '';
    if (lines !== '') options.write(lines);
  };
  const emit = (level: LogLevel, event: string, fields: LogFields = {}): void => {
    const order = ORDER.indexOf(level);
    if (order < least) return;
    const line = JSON.stringify({ time: new Date(options.now()).toISOString(), level, event, ...redact(fields) });
    const isFirst = held === '';
    held += `${printable(mask(line))}\n`;
    if (!options.later || order >= atOnce || held.length > MAX_HELD) write();
    else if (isFirst) options.later(write);
  };
  return {
    debug: (event, fields) => emit('debug', event, fields),
    info: (event, fields) => emit('info', event, fields),
    warn: (event, fields) => emit('warn', event, fields),
    error: (event, fields) => emit('error', event, fields),
  };
}

/** A log that says nothing; the default of the library. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };
