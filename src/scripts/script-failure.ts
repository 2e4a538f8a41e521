import { ToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { oneLine } from '../kernel/text.js';
import type { ScriptBounds, ScriptFailure } from '../model/script.js';
import { SCRIPT_FILE } from './prelude.js';
import type { Breach, ThrownError } from './worker-messages.js';

/** Characters of the quoted line. */
const MAX_SOURCE = 160;
/** Characters of a message that a script wrote. */
const MAX_MESSAGE = 2000;
/** Lines that stand before the script where it is compiled. */
const LINES_BEFORE = 1;

const FRAME = new RegExp(`(?:^|[\\s(])${SCRIPT_FILE}:(\\d+):(\\d+)`);

/** Where a stack trace points at in the script as it was written; `undefined` when it does not point there. */
export function positionIn(
  stack: string,
  script: string,
): { readonly line: number; readonly column: number; readonly source: string } | undefined {
  const found = FRAME.exec(stack);
  if (!found) return undefined;
  const lines = script.split(/\r\n|[\n\r\u2028\u2029]/);
  // What is missing at the end is found behind the last line.
  const line = Math.min(Number(found[1]) - LINES_BEFORE, lines.length);
  if (line < 1) return undefined;
  const isBehind = Number(found[1]) - LINES_BEFORE > lines.length;
  const source = lines[line - 1] ?? '';
  return {
    line,
    column: isBehind ? source.length + 1 : Number(found[2]),
    source: oneLine(source, MAX_SOURCE),
  };
}

function failure(error: ToolscoutError, more: Partial<ScriptFailure> = {}): ScriptFailure {
  const { code, message, remedy, suggestion, severity } = error;
  return { code, message, remedy, suggestion, severity, ...more };
}

/** An error of ours as the failure of a script. */
export function failureOfError(error: ToolscoutError): ScriptFailure {
  return failure(error);
}

/** What a person who does not know this sandbox tries first, and what to do instead. */
function hintFor({ name, message }: ThrownError): string | undefined {
  const missing = name === 'ReferenceError' ? /^(\S+) is not defined$/.exec(message)?.[1] : undefined;
  switch (missing) {
    case undefined:
      return undefined;
    case 'ToolError':
      return "Compare error.name with 'ToolError'; the class itself is not there.";
    case 'console':
      return 'Use print(…).';
    case 'require':
    case 'process':
    case 'fetch':
    case 'setTimeout':
    case 'setInterval':
    case 'WebAssembly':
      return 'A script has ECMAScript, tools and print; there are no modules, timers, files or network.';
    default:
      return undefined;
  }
}

/** What a script threw, or why it could not be read. */
export function failureOfThrown(thrown: ThrownError, script: string, isSyntax: boolean): ScriptFailure {
  const at = positionIn(thrown.stack ?? '', script);
  const { code, server, tool } = thrown;
  const isCall = code !== undefined && server !== undefined && tool !== undefined;
  const name = thrown.thrown ? 'Thrown' : (thrown.name ?? 'Error');
  const what = isCall ? `${server}:${tool} failed: ${code}` : name;
  const where = at ? ` At line ${at.line}, column ${at.column}: ${at.source}` : '';
  const text = oneLine(thrown.message, MAX_MESSAGE);
  const said = /[.!?)]$/.test(text) ? text : `${text}.`;
  const given = isCall ? thrown.suggestion : hintFor(thrown);
  const suggestion = given ?? (isSyntax ? 'Send the body of an async function, and nothing around it.' : undefined);
  const error = new ToolscoutError('SCRIPT_ERROR', `${what}: ${said}${where}`, { suggestion });
  return failure(error, { ...at, ...(isCall && { call: { code, server, tool } }) });
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 102.4) / 10} MB`;
}

const ADVICE = {
  compute: 'Compute less, or split the work into several scripts.',
  memory: 'Keep less at once: take the fields you need of each answer and let go of the rest.',
  output: 'Return less: select the fields that are needed, or summarise.',
  timeout: 'Make fewer calls, or split the work into several scripts.',
  calls: 'Split the work into several scripts.',
} as const;

function limit(kind: keyof typeof ADVICE, message: string): ToolscoutError {
  return new ToolscoutError('SCRIPT_LIMIT_EXCEEDED', message, { suggestion: ADVICE[kind] });
}

/** The error for a bound that a script reached in its worker. */
export function breachError(
  breach: Breach,
  detail: string,
  bounds: ScriptBounds & { readonly outputBytes: number },
): ToolscoutError {
  switch (breach) {
    case 'compute':
      return limit('compute', `The script was stopped: it computed longer than ${bounds.computeMs} ms.`);
    case 'memory':
      return limit('memory', `The script was stopped: it needs more than ${megabytes(bounds.memoryBytes)} of memory.`);
    case 'output':
      return limit(
        'output',
        `The script returned ${megabytes(Number(detail))} of JSON; at most ${megabytes(bounds.outputBytes)} can be returned.`,
      );
    case 'engine':
      return new ToolscoutError(
        'SCRIPT_ERROR',
        `The script ended because its sandbox failed: ${oneLine(detail, 200)}.`,
        {
          suggestion: 'Write the script in another way.',
        },
      );
  }
}

/** The error for a script that makes too many calls. */
export function callsError(calls: number): ToolscoutError {
  return limit('calls', `The script was stopped: it makes more than ${calls} calls.`);
}

/** The error for a script that takes too long. */
export function timeoutError(timeoutMs: number): ToolscoutError {
  return limit('timeout', `The script was stopped: it did not end within ${timeoutMs} ms.`);
}

/** The error for a script that waits for something that cannot happen. */
export function stuckError(): ToolscoutError {
  return new ToolscoutError(
    'SCRIPT_ERROR',
    'The script waits for a promise that nothing will resolve: no call is running, and there are no timers.',
    { suggestion: 'Await only calls of tools, and promises that depend on them.' },
  );
}

/** The fields of a `ToolError` inside a script. */
export interface ToolErrorFields {
  readonly code: ErrorCode;
  readonly message: string;
  readonly server: string;
  readonly tool: string;
  readonly suggestion: string;
}
