import { randomBytes, randomUUID } from 'node:crypto';

/** What stands between server and tool in an address. */
const SEPARATOR = ':';

/** The address of a tool: `server:tool`. */
export function addressOf(server: string, tool: string): string {
  return `${server}${SEPARATOR}${tool}`;
}

/** An unguessable id (122 random bits, drawn from a pool, so it is cheap) for a trace, an audit record or a session. */
export function newId(): string {
  return randomUUID();
}

/** A new trace id as W3C Trace Context writes it: 32 hexadecimal digits. */
export function newTraceId(): string {
  return randomDigits();
}

/** Hexadecimal digits of a time in milliseconds; enough until the year 10889. */
const TIME_DIGITS = 12;

/**
 * An unguessable id that begins with its time, so that ids made one after the other stand side by
 * side in an index: a log whose ids are spread over the whole index rewrites it with every batch.
 */
export function newIdAt(time: number): string {
  if (time !== prefixed) {
    prefixed = time;
    prefix = `${Math.floor(time).toString(16).padStart(TIME_DIGITS, '0')}-`;
  }
  return prefix + randomDigits();
}

/** 128 random bits as 32 hexadecimal digits. */
function randomDigits(): string {
  if (drawn === pool.length) {
    pool = randomBytes(DRAWN_AT_ONCE * RANDOM_BYTES).toString('hex');
    drawn = 0;
  }
  drawn += RANDOM_DIGITS;
  return pool.slice(drawn - RANDOM_DIGITS, drawn);
}

/** Drawn many at a time. A UUID would do as well, but is made of twenty pieces that wait in memory as such. */
const RANDOM_BYTES = 16;
const RANDOM_DIGITS = 2 * RANDOM_BYTES;
const DRAWN_AT_ONCE = 128;
let pool = '';
let drawn = 0;

/** Many ids are made within one millisecond. */
let prefixed = -1;
let prefix = '';
