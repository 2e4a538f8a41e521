import { ToolscoutError } from '../../kernel/errors.js';
import { isDeeperThan, isObject, type JsonValue } from '../../kernel/json.js';
import { createFuel, evaluate } from './evaluate.js';
import { SelectRunError, SelectSyntaxError } from './expression.js';
import { parseExpression } from './parser.js';

/** A JMESPath expression that was read and may be applied. */
export interface Selection {
  readonly text: string;
  /** The selected value, or why there is none: a function got another type, or a bound was reached. */
  apply(value: JsonValue): { readonly value: JsonValue } | { readonly problem: string };
}

/** Characters of an expression. */
const MAX_EXPRESSION = 4096;
/** Steps of one evaluation: about a second of computing. */
const MAX_STEPS = 5_000_000;
/** Nesting of a value that is looked into; deeper ones could overflow the stack. */
const MAX_DEPTH = 500;
/** What is selected may be written as JSON: so many values, and so many characters in them. */
const MAX_VALUES = 1_000_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;

/** Why a value may not be written; parts that occur many times count as often as they are written. */
function excessOf(value: JsonValue): string | undefined {
  let values = 0;
  let characters = 0;
  const stack: JsonValue[] = [value];
  while (stack.length > 0) {
    const next = stack.pop()!;
    values++;
    if (typeof next === 'string') characters += next.length;
    else if (Array.isArray(next)) {
      if (values + next.length > MAX_VALUES) return `more than ${MAX_VALUES} values`;
      for (const item of next) stack.push(item);
    } else if (isObject(next)) {
      for (const key of Object.keys(next)) {
        characters += key.length;
        stack.push(next[key]!);
      }
    }
    if (values + stack.length > 2 * MAX_VALUES || values > MAX_VALUES) return `more than ${MAX_VALUES} values`;
    if (characters > MAX_CHARACTERS) return `more than ${MAX_CHARACTERS} characters`;
  }
  return isDeeperThan(value, 2 * MAX_DEPTH) ? `more than ${2 * MAX_DEPTH} levels` : undefined;
}

function notAnExpression(name: string, text: string, at: number, message: string): ToolscoutError {
  const position = at + 1;
  const near = text.slice(Math.max(0, at - 20), at + 20);
  return new ToolscoutError(
    'INVALID_REQUEST',
    `"${name}" is not a JMESPath expression: ${message}, at position ${position}, near ${JSON.stringify(near)}.`,
    {
      suggestion: "Fix the expression, e.g. items[*].{id: id, name: name} or items[?state=='open'].title.",
      problems: [{ path: name, message: `position ${position}: ${message}` }],
      delivered: false,
    },
  );
}

/**
 * Reads a JMESPath expression; `name` is that of the argument which holds it.
 *
 * @throws ToolscoutError `INVALID_REQUEST` with the position of what is wrong.
 */
export function compileSelection(text: string, name = 'select'): Selection {
  if (text.length > MAX_EXPRESSION) {
    throw notAnExpression(name, text, MAX_EXPRESSION, `it is longer than ${MAX_EXPRESSION} characters`);
  }
  const expression = read(text, name);
  return {
    text,
    apply(value) {
      if (isDeeperThan(value, MAX_DEPTH)) return { problem: `the result nests deeper than ${MAX_DEPTH} levels` };
      try {
        const selected = evaluate(expression, value, createFuel(MAX_STEPS));
        const excess = excessOf(selected);
        return excess === undefined ? { value: selected } : { problem: `it selects ${excess}` };
      } catch (thrown) {
        if (thrown instanceof SelectRunError) return { problem: thrown.message };
        throw thrown;
      }
    },
  };
}

function read(text: string, name: string): ReturnType<typeof parseExpression> {
  try {
    return parseExpression(text);
  } catch (thrown) {
    if (thrown instanceof SelectSyntaxError) throw notAnExpression(name, text, thrown.at, thrown.message);
    throw thrown;
  }
}
