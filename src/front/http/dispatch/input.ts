import * as z from 'zod';
import { ToolscoutError, type Problem } from '../../../kernel/errors.js';
import { excessIn } from '../../../kernel/json-bounds.js';
import { isDeeperThan } from '../../../kernel/json.js';
import { LIMITS } from '../../../kernel/limits.js';
import { oneLine, printable } from '../../../kernel/text.js';

/** Characters of a wrong value that are shown. */
const SHOWN = 60;

const DIGITS = /^\d{1,16}$/;

/** Of a body that is too large so much is heard to the end; who is still sending does not hear the answer. */
const MAX_HEARD = 16 * LIMITS.bodyBytes;

/** Problems named in one answer. */
const MAX_PROBLEMS = 20;

/** The header in which a program says its name; nothing proves it. */
const CLIENT_HEADER = 'x-toolscout-client';

/** A program that says no name of its own. */
const NAMELESS = 'HTTP API';

/** Characters of such a name that are kept. */
const MAX_CLIENT = 100;

/**
 * What the program that sends a request calls itself, for the audit log: the header `X-Toolscout-Client`, else the product of
 * `User-Agent`. Every browser calls itself Mozilla, which names nothing. Without a name it is told apart from hosts of MCP all the same.
 */
export function clientNameOf({ headers }: Pick<Request, 'headers'>): string {
  const given = headers.get(CLIENT_HEADER)?.trim();
  const name = given || /^[^\s/(]+/.exec(headers.get('user-agent') ?? '')?.[0];
  return !name || name === 'Mozilla' ? NAMELESS : oneLine(printable(name), MAX_CLIENT);
}

/** A whole number in a query, written with digits alone. */
export function wholeNumber(least: number, most: number): z.ZodType<number, unknown> {
  const read = (text: unknown): unknown => (typeof text === 'string' && DIGITS.test(text) ? Number(text) : text);
  const number = z.int('expected a whole number').min(least).max(most);
  return z.preprocess(read, number).meta({ type: 'integer', minimum: least, maximum: most });
}

function refuse(what: string, problems: readonly Problem[]): ToolscoutError {
  const named = problems.slice(0, 3).map(({ path, message }) => `${path}: ${message}`);
  return new ToolscoutError('INVALID_REQUEST', `${what} is not valid: ${named.join('; ')}.`, {
    problems: problems.slice(0, MAX_PROBLEMS),
  });
}

/** What a schema says of a value that has the wrong type, in the words of the checks of the config. */
function plainly(message: string): string {
  const [, expected, received] = /^Invalid input: (expected .+), received (.+)$/.exec(message) ?? [];
  if (expected === undefined) return message;
  return received === 'undefined' ? `is missing; ${expected}` : `${expected}, found ${received}`;
}

function problemsOf(error: z.ZodError, given?: (name: string) => string | null): Problem[] {
  return error.issues.map(({ path, message: said }) => {
    const message = plainly(said);
    const name = path.map(String).join('.') || 'body';
    const value = given?.(String(path[0]));
    const found = value === null || value === undefined ? '' : `, found "${oneLine(printable(value), SHOWN)}"`;
    return { path: printable(oneLine(name, SHOWN)), message: `${message}${found}` };
  });
}

/** Whether a parameter may stand in a query several times: its schema is a list, perhaps with a default. */
function isRepeated(schema: z.core.$ZodType): boolean {
  const { def } = schema._zod;
  if (def.type === 'array') return true;
  return 'innerType' in def && isRepeated(def.innerType as z.core.$ZodType);
}

/**
 * The parameters of a query. One that is not documented is left alone.
 *
 * @throws ToolscoutError `INVALID_REQUEST` that names the value which makes no sense.
 */
export function readQuery(schema: z.ZodObject, query: URLSearchParams): unknown {
  const values: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const problems: Problem[] = [];
  for (const [name, field] of Object.entries(schema.shape)) {
    const given = query.getAll(name);
    if (isRepeated(field)) values[name] = given;
    else if (given.length > 1) problems.push({ path: name, message: 'may stand there only once' });
    else if (given[0]?.trim() === '') problems.push({ path: name, message: 'is empty' });
    else if (given[0] !== undefined) values[name] = given[0];
  }
  const parsed = schema.safeParse(values);
  if (!parsed.success) {
    const further = problemsOf(parsed.error, (name) => query.get(name));
    problems.push(...further.filter(({ path }) => !problems.some((known) => known.path === path)));
  }
  if (problems.length > 0) throw refuse('The query', problems);
  return parsed.data;
}

/** What varies in a path, checked. */
export function readParams(schema: z.ZodObject, params: Readonly<Record<string, string>>): unknown {
  const parsed = schema.safeParse(params);
  if (!parsed.success) throw refuse('The path', problemsOf(parsed.error));
  return parsed.data;
}

/** All bytes of a body and how many there were; of a body that is too large only their number. */
async function readChunks(request: Request): Promise<{ readonly size: number; readonly chunks: Uint8Array[] }> {
  const reader = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    const chunk = next.value as Uint8Array;
    size += chunk.length;
    if (size <= LIMITS.bodyBytes) chunks.push(chunk);
    else chunks.length = 0;
    if (size > MAX_HEARD) {
      await reader?.cancel();
      break;
    }
  }
  return { size, chunks };
}

async function readText(request: Request): Promise<string> {
  const encoding = request.headers.get('content-encoding')?.trim().toLowerCase() ?? 'identity';
  const tooLarge = new ToolscoutError(
    'PAYLOAD_TOO_LARGE',
    `The body of the request is larger than ${LIMITS.bodyBytes} bytes.`,
  );
  if (Number(request.headers.get('content-length') ?? 0) > MAX_HEARD) throw tooLarge;
  const { size, chunks } = await readChunks(request).catch(() => {
    // The sender has closed the connection, so this answer is not read.
    throw refuse('The body', [{ path: 'body', message: 'is incomplete' }]);
  });
  if (size > LIMITS.bodyBytes) throw tooLarge;
  // What a few bytes unpack to knows no bound.
  if (encoding !== 'identity') throw refuse('The body', [{ path: 'content-encoding', message: 'expected none' }]);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    // Broken UTF-8 is refused, not replaced: a tool would get text that the caller did not send.
    throw refuse('The body', [{ path: 'body', message: 'expected UTF-8' }]);
  }
}

/**
 * The body of a request, checked. Only JSON that says so is taken: a form that some page sends by
 * itself is none.
 */
export async function readBody(schema: z.ZodType, request: Request): Promise<unknown> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  const text = await readText(request);
  const isEmpty = text.trim() === '';
  if (!isEmpty && type !== 'application/json') {
    throw refuse('The body', [{ path: 'content-type', message: 'expected application/json' }]);
  }
  const excess = excessIn(text);
  if (excess !== undefined) throw refuse('The body', [{ path: 'body', message: excess }]);
  let value: unknown;
  try {
    value = isEmpty ? undefined : JSON.parse(text);
  } catch {
    // The parser's message would quote the body.
    throw refuse('The body', [{ path: 'body', message: 'expected JSON' }]);
  }
  if (isDeeperThan(value, LIMITS.depth)) {
    throw refuse('The body', [{ path: 'body', message: `nests deeper than ${LIMITS.depth} levels` }]);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw refuse('The body', problemsOf(parsed.error));
  return parsed.data;
}
