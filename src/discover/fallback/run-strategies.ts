import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { extractAnswer, extractTools, type Extracted } from './extract.js';
import { STRATEGY_PROVENANCE, type Strategy } from './strategies.js';
import type { Listed } from '../list.js';
import { checkTool, refuseDuplicate, shownName, type BadItem } from '../salvage.js';

/** What a program printed when it was asked without a handshake. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** The side effects that the strategies need; this module performs none itself. */
export interface StrategyDeps {
  /**
   * Starts the program, writes the request to its stdin, and resolves with its output once it exits or times out.
   * Absent when there is no program or it cannot be started.
   */
  readonly run?: (env: Readonly<Record<string, string>>, request: string) => Promise<Printed>;
  /** Names that the user's own client approved for this server. */
  readonly autoApproved: readonly string[];
  /** Asks a model for likely tools. Resolves with an empty list when predictions are off or the request fails. */
  readonly predict: () => Promise<readonly JsonObject[]>;
}

/** A list that was found without a handshake, and the strategy that found it. */
export interface FallbackList extends Listed {
  readonly strategy: Strategy;
  readonly confidence: number;
}

/** Variables that make some servers print their tools. Never set on an ordinary start. */
export const DISCOVERY_ENVIRONMENT: Readonly<Record<string, string>> = {
  MCP_LIST_FUNCTIONS: 'true',
  MCP_DISCOVERY_MODE: 'true',
  MCP_REQUIRE_DESCRIPTIONS: 'true',
  MCP_LIST_TOOLS: 'true',
  FUNCTIONS_DISCOVERY: 'true',
  NODE_ENV: 'discovery',
};

const REQUEST_ID = 1;
const REQUEST = JSON.stringify({ jsonrpc: '2.0', id: REQUEST_ID, method: 'tools/list', params: {} });

/** Whether a line of a program answers the plain request, so that nothing more needs to be waited for. */
export function isPlainAnswer(line: string): boolean {
  return line.includes('"tools"') && extractAnswer(line, REQUEST_ID) !== undefined;
}

/**
 * Runs the strategies for a server that completes no handshake (DISC-6), in this order: parse what its program prints on
 * a plain request, take the tool names that the user's client approved, ask a model.
 */
export async function runStrategies(deps: StrategyDeps): Promise<FallbackList | undefined> {
  const printed = await deps.run?.(DISCOVERY_ENVIRONMENT, REQUEST);
  const heard =
    printed &&
    (extractAnswer(printed.stdout, REQUEST_ID) ?? extractTools(printed.stdout) ?? extractTools(printed.stderr));
  const declared: Extracted = { strategy: 'auto-approved', items: deps.autoApproved.map((name) => ({ name })) };
  return keep(heard) ?? keep(declared) ?? keep({ strategy: 'predicted', items: await deps.predict() });
}

/** Keeps the valid entries, by the same checks as for any other list. */
function keep(extracted: Extracted | undefined): FallbackList | undefined {
  if (!extracted) return undefined;
  const items: JsonObject[] = [];
  const bad: BadItem[] = [];
  const keys = new Set<string>();
  for (const [index, raw] of extracted.items.entries()) {
    const checked = refuseDuplicate(checkTool(raw, LIMITS), keys, 'name');
    if ('item' in checked) {
      keys.add(checked.key);
      items.push(checked.item);
    } else bad.push({ index, name: shownName(raw, 'name'), reason: checked.reason });
  }
  if (items.length === 0) return undefined;
  const { strategy, hasMore } = extracted;
  const truncated = hasMore && { truncated: 'only the first page: without a handshake no further one is asked for' };
  return { items, bad, strategy, confidence: STRATEGY_PROVENANCE[strategy].confidence, ...truncated };
}

/** Tools out of the answer of a model: the text of a completion, which may hold them in any of the usual shapes. */
export function readPrediction(completion: JsonValue | undefined): readonly JsonObject[] {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) && isObject(choice['message']) ? choice['message']['content'] : undefined;
  const extracted = typeof message === 'string' ? extractTools(message) : undefined;
  return extracted && extracted.strategy !== 'identifiers' ? extracted.items : [];
}
