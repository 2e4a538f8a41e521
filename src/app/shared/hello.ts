import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { isObject, type JsonObject } from '../../kernel/json.js';

/** What a process requests of a shared service. */
export interface Wish {
  /** `host`: MCP for one host. `status`: one line about the service. `stop`: end it. */
  readonly kind: 'host' | 'status' | 'stop';
  /** How many services the host had before this one: questions of the server to it are numbered so that none is taken for another. */
  readonly generation?: number;
  readonly server?: string;
  readonly skill?: string;
  readonly mode?: string;
  readonly admin?: boolean;
}

/** The first line of a connection is never longer. */
export const MAX_HELLO_BYTES = 16 * 1024;

const FORMAT = 1;

type Side = 'host' | 'service';

/** Proves that this side has read the token, without sending it. */
function prove(token: string, side: Side, nonce: string): string {
  return createHmac('sha256', token).update(`${side}:${nonce}`).digest('hex');
}

function isProof(given: unknown, token: string, side: Side, nonce: string): boolean {
  const expected = Buffer.from(prove(token, side, nonce));
  const found = Buffer.from(typeof given === 'string' ? given : '');
  return found.length === expected.length && timingSafeEqual(found, expected);
}

function parse(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) && value['toolscout'] === FORMAT ? value : undefined;
  } catch {
    // It is not one of ours.
    return undefined;
  }
}

/** The first line to a service, and how its answer is judged. */
export function createHello(token: string, wish: Wish) {
  const nonce = randomBytes(16).toString('hex');
  return {
    line: `${JSON.stringify({ toolscout: FORMAT, nonce, proof: prove(token, 'host', nonce), wish })}\n`,
    /** The answer of the service; `undefined` when it is not the service that wrote the record. */
    read(line: string): JsonObject | undefined {
      const answer = parse(line);
      return answer && isProof(answer['proof'], token, 'service', nonce) ? answer : undefined;
    },
  };
}

/** The wish on the first line of a connection, and how it is answered; `undefined` for a process that may not read the token. */
export function readHello(
  line: string,
  token: string,
): { readonly wish: Wish; answer(about?: JsonObject): string } | undefined {
  const hello = parse(line);
  const nonce = hello?.['nonce'];
  if (!hello || typeof nonce !== 'string' || !isProof(hello['proof'], token, 'host', nonce)) return undefined;
  const wish = hello['wish'];
  if (!isObject(wish) || !['host', 'status', 'stop'].includes(String(wish['kind']))) return undefined;
  return {
    wish: wish as unknown as Wish,
    answer: (about = {}) =>
      `${JSON.stringify({ toolscout: FORMAT, proof: prove(token, 'service', nonce), ...about })}\n`,
  };
}
