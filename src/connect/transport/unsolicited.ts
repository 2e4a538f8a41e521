import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError } from '../../kernel/errors.js';
import { mebibytes } from '../../kernel/text.js';

/** What helps when one message of a server is larger than what is read of it. */
export const ASK_FOR_LESS = 'Request less data in one call: a page, fewer items, a smaller range.';

/** What helps when a server does not read what is sent to it. */
export const SEND_LESS =
  'Send smaller arguments or fewer calls at once; if it happens again, report it to the authors of the server.';

/**
 * Unsolicited messages, in one burst and per second. The noisiest real server sends a few dozen lines; a
 * server that reports the progress of several calls a few hundred messages a second.
 */
const BURST_MESSAGES = 10_000;
const MESSAGES_PER_SECOND = 500;
/** The same in bytes: parsing a megabyte holds up every other server for some milliseconds. */
const BURST_BYTES = 64 * 1024 * 1024;
const BYTES_PER_SECOND = 4 * 1024 * 1024;
/** How long a server that was cut off is not connected again. */
const PAUSE_MS = 30_000;

/** A line that is not protocol has no use at all, so fewer of them are tolerated. */
export const NOISE_WEIGHT = 4;

/** Limits what a server sends without being asked: blank lines, garbage, notifications, requests, answers to nothing. */
export interface UnsolicitedBudget {
  /** Counts one message; `false` when the server has sent more than is tolerated and must be cut off. */
  spend(bytes: number, weight?: number): boolean;
}

/** A full budget for one connection; it fills up again with time. */
export function createUnsolicitedBudget(clock: Clock): UnsolicitedBudget {
  let messages = BURST_MESSAGES;
  let bytesLeft = BURST_BYTES;
  let last = clock.monotonic();

  const refill = (): void => {
    const now = clock.monotonic();
    const seconds = (now - last) / 1000;
    last = now;
    messages = Math.min(BURST_MESSAGES, messages + seconds * MESSAGES_PER_SECOND);
    bytesLeft = Math.min(BURST_BYTES, bytesLeft + seconds * BYTES_PER_SECOND);
  };

  return {
    spend(bytes, weight = 1) {
      messages -= weight;
      bytesLeft -= bytes;
      if (messages >= 0 && bytesLeft >= 0) return true;
      // Time is read only when the budget is used up: a message costs two subtractions.
      refill();
      return messages >= 0 && bytesLeft >= 0;
    },
  };
}

/** Why a connection was cut off; `retryAfterMs` keeps the server from being started again at once. */
export function cutOff(server: string): ToolscoutError {
  const message =
    `The server "${server}" was disconnected: it sent more than ${BURST_MESSAGES} unsolicited messages, ` +
    `or more than ${mebibytes(BURST_BYTES)} of them.`;
  return new ToolscoutError('SERVER_CONNECTION_ERROR', message, {
    retryAfterMs: PAUSE_MS,
    remedy: {
      kind: 'configure',
      what: 'Report it to the authors of the server, or remove the server from the config.',
    },
  });
}
