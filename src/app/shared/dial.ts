import { connect, type Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.js';
import { ToolscoutError, type ErrorCode } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { createHello, MAX_HELLO_BYTES, type Wish } from './hello.js';
import { readRecord, type SharedPlace } from './place.js';

/** A service that is there answers at once; one that hangs is not waited for longer. */
const ANSWER_MS = 10_000;

/** A connection to a service that has proved to be one of this user. */
export interface Dialled {
  readonly socket: Socket;
  /** What the service said of itself. */
  readonly answer: JsonObject;
}

/**
 * Connects to the service of a place; `undefined` when it does not run.
 *
 * @throws ToolscoutError when the service refuses the wish.
 */
export async function dial(place: SharedPlace, wish: Wish, clock: Clock): Promise<Dialled | undefined> {
  const record = readRecord(place.record);
  if (!record) return undefined;
  const hello = createHello(record.token, wish);
  const socket = connect(place.socket);
  const line = await new Promise<string | undefined>((resolve) => {
    let text = Buffer.alloc(0);
    const timer = clock.after(ANSWER_MS, () => done(undefined), { awaited: true });
    const onData = (chunk: Buffer): void => {
      text = Buffer.concat([text, chunk]);
      const end = text.indexOf(0x0a);
      if (end === -1) return text.length > MAX_HELLO_BYTES ? done(undefined) : undefined;
      const rest = text.subarray(end + 1);
      done(text.toString('utf8', 0, end));
      if (rest.length > 0) socket.unshift(rest);
    };
    const onLost = (): void => done(undefined);
    const done = (answer: string | undefined): void => {
      timer.cancel();
      socket.off('data', onData).off('close', onLost);
      socket.pause();
      resolve(answer);
    };
    // The service may end in the middle of this; "close" follows.
    socket.on('error', () => undefined);
    socket.on('data', onData).once('close', onLost);
    socket.write(hello.line);
  });
  const answer = line === undefined ? undefined : hello.read(line);
  if (!answer) {
    socket.destroy();
    return undefined;
  }
  const { error } = answer;
  if (isObject(error)) {
    socket.destroy();
    const { code, message, suggestion } = error;
    // The service has proved to be one of this user, and has the same version.
    throw new ToolscoutError(code as ErrorCode, String(message), { suggestion: String(suggestion) });
  }
  return { socket, answer };
}
