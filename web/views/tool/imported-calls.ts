import type { SavedCall } from '../../api/client.js';
import type { JsonObject } from '../../api/types.js';
import { spelled } from '../../form/same-value.js';

/** A call that is to be kept. */
export type NewCall = Omit<SavedCall, 'id'>;

/** The calls of a text, or why it has none. */
export type ReadCalls = { readonly calls: readonly NewCall[] } | { readonly problem: string };

/** As many as toolscout keeps for one caller. */
const MAX_CALLS = 200;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const identity = ({ name, server, tool, arguments: args }: NewCall): string => spelled([name, server, tool, args]);

function readCall(value: unknown): NewCall | undefined {
  if (!isRecord(value)) return undefined;
  const { name, server, tool, arguments: args } = value;
  const isNamed = [name, server, tool].every((one) => typeof one === 'string' && one.trim() !== '');
  if (!isNamed || !isRecord(args)) return undefined;
  return { name: name as string, server: server as string, tool: tool as string, arguments: args as JsonObject };
}

/** Reads an export, a list of calls or a single call. */
export function readCalls(text: string): ReadCalls {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return { problem: 'This is not JSON.' };
  }
  const given = Array.isArray(value)
    ? value
    : isRecord(value) && Array.isArray(value['calls'])
      ? value['calls']
      : [value];
  if (given.length === 0) return { problem: 'There are no calls in it.' };
  if (given.length > MAX_CALLS) return { problem: `There are more than ${MAX_CALLS} calls in it.` };
  const calls = given.map(readCall);
  const bad = calls.findIndex((call) => call === undefined);
  if (bad !== -1)
    return { problem: `Call ${bad + 1} is not one: it needs a name, a server, a tool and its arguments as an object.` };
  return { calls: calls as NewCall[] };
}

/** The calls that are not kept yet, each once. */
export function missingCalls(calls: readonly NewCall[], kept: readonly NewCall[]): NewCall[] {
  const known = new Set(kept.map(identity));
  return calls.filter((call) => {
    const key = identity(call);
    if (known.has(key)) return false;
    known.add(key);
    return true;
  });
}
