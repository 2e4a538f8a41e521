import { isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import { extractAnswer, extractTools, RUNG_WORTH, type Extracted, type Strategy } from './extract.js';
import type { Listed } from '../list.js';
import { checkTool, shownName, type BadItem } from '../salvage.js';

/** What a program printed when it was asked without a handshake. */
export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

/** How the rungs are tried; the ladder itself touches nothing. */
export interface LadderDeps {
  /**
   * Starts the program, says this to it, and answers what it printed until it ended or its time was over; absent where
   * there is no program, or it cannot be started.
   */
  readonly run?: (env: Readonly<Record<string, string>>, request: string) => Promise<Printed>;
  /** Names that the user's own client approved for this server. */
  readonly autoApproved: readonly string[];
  /** Asks a model for likely tools; nothing when that is not wanted or fails. */
  readonly predict: () => Promise<readonly JsonObject[]>;
}

/** What the ladder found, and on which rung. */
export interface Climbed extends Listed {
  readonly rung: Strategy;
  readonly confidence: number;
}

/** Variables by which some servers are told to print what they have. Never set on an ordinary start. */
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
 * Climbs the compatibility ladder for a server that could not be asked properly (DISC-6): what its program prints when it
 * is asked plainly, then what the user's client says of it, then a guess.
 */
export async function climb(deps: LadderDeps): Promise<Climbed | undefined> {
  const printed = await deps.run?.(DISCOVERY_ENVIRONMENT, REQUEST);
  const heard =
    printed &&
    (extractAnswer(printed.stdout, REQUEST_ID) ?? extractTools(printed.stdout) ?? extractTools(printed.stderr));
  const declared: Extracted = { rung: 'auto-approved', items: deps.autoApproved.map((name) => ({ name })) };
  return keep(heard) ?? keep(declared) ?? keep({ rung: 'predicted', items: await deps.predict() });
}

/** The entries that can be kept, judged as those of any other list. */
function keep(extracted: Extracted | undefined): Climbed | undefined {
  if (!extracted) return undefined;
  const items: JsonObject[] = [];
  const bad: BadItem[] = [];
  for (const [index, raw] of extracted.items.entries()) {
    const checked = checkTool(raw, LIMITS);
    if ('item' in checked) items.push(checked.item);
    else bad.push({ index, name: shownName(raw, 'name'), reason: checked.reason });
  }
  if (items.length === 0) return undefined;
  const { rung } = extracted;
  return { items, bad, rung, confidence: RUNG_WORTH[rung].confidence };
}

/** Tools out of the answer of a model: the text of a completion, which may hold them in any of the usual shapes. */
export function readPrediction(completion: JsonValue | undefined): readonly JsonObject[] {
  const choices = isObject(completion) ? completion['choices'] : undefined;
  const choice = Array.isArray(choices) ? choices[0] : undefined;
  const message = isObject(choice) && isObject(choice['message']) ? choice['message']['content'] : undefined;
  const extracted = typeof message === 'string' ? extractTools(message) : undefined;
  return extracted && extracted.rung !== 'identifiers' ? extracted.items : [];
}
