import { ToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { addressOf } from '../kernel/ids.js';
import { describeRemedy, type Remedy } from '../kernel/remedy.js';
import { oneLine, seconds } from '../kernel/text.js';
import type { ScriptBounds, ScriptFailure } from '../model/script.js';
import { SCRIPT_FILE } from './prelude.js';
import type { Breach, CallRequest, ThrownError } from './worker-messages.js';

/** Characters of the quoted line. */
const MAX_SOURCE = 160;
/** Characters of a message that a script wrote. */
const MAX_MESSAGE = 2000;
/** Lines that stand before the script where it is compiled. */
const LINES_BEFORE = 1;

const FRAME = new RegExp(`(?:^|[\\s(])${SCRIPT_FILE}:(\\d+):(\\d+)`);

function linesOf(script: string): string[] {
  return script.split(/\r\n|[\n\r\u2028\u2029]/);
}

/** Where a stack trace points at in the script as it was written; `undefined` when it does not point there. */
export function positionIn(
  stack: string,
  script: string,
): { readonly line: number; readonly column: number; readonly source: string } | undefined {
  const found = FRAME.exec(stack);
  if (!found) return undefined;
  const lines = linesOf(script);
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

/** An error of ours as the failure of a script; `place` is the stack trace at that moment. */
export function failureOfError(error: ToolscoutError, script = '', place = ''): ScriptFailure {
  const at = positionIn(place, script);
  // The engine knows the last line that called or read something; a loop may be a little further down.
  return at
    ? { ...failure(error, at), message: `${error.message} Near line ${at.line}: ${at.source}` }
    : failure(error);
}

const ONLY_LANGUAGE = 'A script has ECMAScript, tools and print; there are no modules, timers, files or network.';

/** What a person who does not know this sandbox tries first, and what to do instead. */
function hintFor({ name, message }: ThrownError, source: string): string | undefined {
  if (message.startsWith('could not load module')) return ONLY_LANGUAGE;
  const missing = name === 'ReferenceError' ? /^(\S+) is not defined$/.exec(message)?.[1] : undefined;
  if (missing === undefined) return undefined;
  // `tools.x.get-sum()` is read as a subtraction.
  const hyphened = [...source.matchAll(/\btools\b.*?\.([\w$]+(?:-[\w$]+)+)/g)].map(([, found]) => found!);
  const meant = hyphened.find((each) => each.split('-').includes(missing));
  if (meant !== undefined) return `Write a name with a hyphen in brackets: ["${meant}"].`;
  switch (missing) {
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
      return ONLY_LANGUAGE;
    default:
      return undefined;
  }
}

/** What to do about a script that cannot be read. */
function syntaxHint({ message }: ThrownError, source: string, isAtEnd: boolean): string {
  if (/^\s*(?:import|export)\b/.test(source)) return ONLY_LANGUAGE;
  const isTyped =
    /^\s*(?:interface|type|enum|declare|namespace)\s/.test(source) ||
    (/[\w$)\]}]\??\s*:\s*[\w$[{(]/.test(source) && /initializer|token ':'/.test(message)) ||
    (/\b(?:as|satisfies)\s+[\w$[{]/.test(source) && /expecting/.test(message));
  if (isTyped) return 'Write JavaScript: types of TypeScript cannot be read.';
  if (message.startsWith('function name expected')) return 'Send the body of an async function, and nothing around it.';
  if (isAtEnd) return 'A bracket, brace or quote is not closed, or is closed twice.';
  return 'Fix the syntax there; a script is the body of an async function in JavaScript.';
}

/** What a script threw, or why it could not be read. `last` describes the answer of the last call, which may have caused the error. */
export function failureOfThrown(
  thrown: ThrownError,
  script: string,
  isSyntax: boolean,
  last?: () => string | undefined,
): ScriptFailure {
  const at = positionIn(thrown.stack ?? '', script);
  const { code, server, tool } = thrown;
  const isCall = code !== undefined && server !== undefined && tool !== undefined;
  const name = thrown.thrown ? 'Thrown' : (thrown.name ?? 'Error');
  const what = isCall ? `${server}:${tool} failed: ${code}` : name;
  const where = at ? ` At line ${at.line}, column ${at.column}${at.source.trim() === '' ? '' : `: ${at.source}`}` : '';
  const text = oneLine(thrown.message, MAX_MESSAGE);
  const said = /[.!?)]$/.test(text) ? text : `${text}.`;
  const source = at?.source ?? '';
  const gave = !isCall && thrown.name === 'TypeError' ? last?.() : undefined;
  const isAtEnd = at !== undefined && at.line === linesOf(script).length && at.column > source.length;
  const given = isCall ? thrown.suggestion : hintFor(thrown, source);
  const suggestion = /^\s*```/.test(script)
    ? 'Send the code itself, without the ``` around it.'
    : given || (isSyntax ? syntaxHint(thrown, source, isAtEnd) : undefined);
  const error = new ToolscoutError('SCRIPT_ERROR', `${what}: ${said}${where}${gave === undefined ? '' : `\n${gave}`}`, {
    suggestion,
  });
  return failure(error, { ...at, ...(isCall && { call: { code, server, tool } }) });
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1024 / 102.4) / 10} MB`;
}

/** Calls that are named in a message. */
const NAMED = 5;

/** The failure of a script some of whose calls succeeded: to run it again would make them again. `done` has those that may have changed something. */
export function withEffects(
  failed: ScriptFailure,
  done: ReadonlyArray<readonly [address: string, calls: number]>,
): ScriptFailure {
  const calls = done.reduce((sum, [, count]) => sum + count, 0);
  if (calls === 0) return failed;
  const named = done.slice(0, NAMED).map(([address, count]) => (count === 1 ? address : `${address} (${count} times)`));
  const more = done.length > NAMED ? ', …' : '';
  const took = `${calls} ${calls === 1 ? 'call' : 'calls'} took effect before that: ${named.join(', ')}${more}.`;
  const leaveOut: Remedy = { kind: 'advice', text: 'Leave out what took effect when you run it again.' };
  const remedy: Remedy = { kind: 'steps', steps: [failed.remedy, leaveOut] };
  const message = `${failed.message}\n${took}`;
  return { ...failed, message, remedy, suggestion: describeRemedy(remedy) };
}

const ADVICE = {
  compute: 'Compute less, or split the work into several scripts.',
  memory: 'Keep less at once: take the fields you need of each answer and let go of the rest.',
  output: 'Return less: select the fields that are needed, or summarise.',
  timeout: 'Make fewer calls, or split the work into several scripts.',
  calls: 'Split the work into several scripts.',
  depth: 'Return values that are less nested.',
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
      return limit('compute', `The script was stopped: it computed longer than ${seconds(bounds.computeMs)}.`);
    case 'memory':
      return limit('memory', `The script was stopped: it needs more than ${megabytes(bounds.memoryBytes)} of memory.`);
    case 'output':
      return limit(
        'output',
        `The script returned ${megabytes(Number(detail))} of JSON; at most ${megabytes(bounds.outputBytes)} can be returned.`,
      );
    case 'engine':
      if (/call stack|stack overflow/i.test(detail)) {
        return limit('depth', 'The script was stopped: its values or its function calls are nested too deep.');
      }
      return new ToolscoutError(
        'SCRIPT_ERROR',
        `The script ended because its sandbox failed: ${oneLine(detail, 200)}.`,
        {
          suggestion:
            'Check what its calls changed, then run it again; if it fails the same way, report it with the script.',
        },
      );
  }
}

/** A call as it is named in a message. */
type Named = Pick<CallRequest, 'server' | 'tool'>;

/** The error for a script that makes too many calls; `next` is the first that was not made. */
export function callsError(calls: number, { server, tool }: Named): ToolscoutError {
  const next = addressOf(server, tool);
  return limit('calls', `The script was stopped: it makes more than ${calls} calls. The next would have been ${next}.`);
}

/** The error for a script that takes too long, and for which calls it waited. */
export function timeoutError(timeoutMs: number, waiting: ReadonlyArray<{ readonly request: Named }>): ToolscoutError {
  const named = [...new Set(waiting.map(({ request }) => addressOf(request.server, request.tool)))].slice(0, NAMED);
  const waited = named.length === 0 ? '' : ` It waited for ${named.join(', ')}.`;
  return limit('timeout', `The script was stopped: it did not end within ${seconds(timeoutMs)}.${waited}`);
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
