import { isObject, type JsonObject } from '../../kernel/json.js';
import { RPC_CODE } from '../../protocol/json-rpc.js';
import { isMessage } from '../../protocol/lines.js';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

function plainError(error: unknown): JsonObject {
  const { code, message, data }: JsonObject = isObject(error) ? error : { message: error as string };
  return {
    code: Number.isInteger(code) ? code : RPC_CODE.internalError,
    message: typeof message === 'string' ? message : '',
    ...(data !== undefined && { data }),
  };
}

/**
 * An answer without what the SDK refuses and a pipe takes: fields beside `result` and `error`, an empty one of the two
 * written as null, an error that is only a text or has a text as its code. Everything else stays as it is.
 */
function plainAnswer(message: unknown): unknown {
  if (!isMessage(message) || message['method'] !== undefined) return message;
  const { jsonrpc, id, result, error } = message;
  if (error !== undefined && error !== null) return { jsonrpc, id, error: plainError(error) };
  if (!isObject(result) || result['_meta'] === undefined || isObject(result['_meta'])) return { jsonrpc, id, result };
  const { _meta, ...rest } = result;
  return { jsonrpc, id, result: rest };
}

/** The same for a whole body; what is no message in a batch does not hide the others. */
export function plainBody(body: unknown): unknown {
  if (!Array.isArray(body)) return plainAnswer(body);
  const messages = body.filter((each) => isMessage(each));
  return messages.length === 0 ? body : messages.map(plainAnswer);
}

function plainLine(line: string): string {
  try {
    return `data: ${JSON.stringify(plainBody(JSON.parse(line.slice('data:'.length))))}`;
  } catch {
    // Not a whole message, or none: the receiver says so.
    return line;
  }
}

/** The same for the events of a stream. Parsing each of them twice would cost every call, so only those with an error are looked at. */
export function createPlainEvents(): { take(chunk: Uint8Array): Uint8Array | undefined; rest(): Uint8Array } {
  let held: Uint8Array[] = [];
  return {
    take(chunk) {
      const end = Math.max(chunk.lastIndexOf(LINE_FEED), chunk.lastIndexOf(CARRIAGE_RETURN)) + 1;
      if (end === 0) {
        held.push(chunk);
        return undefined;
      }
      const lines = Buffer.concat([...held, chunk.subarray(0, end)]);
      held = [chunk.subarray(end)];
      if (!lines.includes('"error"')) return lines;
      return Buffer.from(lines.toString('utf8').replaceAll(/(?<=^|[\r\n])data:[^\r\n]*/g, plainLine));
    },
    rest: () => Buffer.concat(held),
  };
}
