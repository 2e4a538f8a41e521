import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { messageOf, type Problem } from '../../kernel/errors.js';
import { canonicalJson, isDeeperThan, isObject, type JsonObject, type JsonValue } from '../../kernel/json.js';
import { LIMITS } from '../../kernel/limits.js';
import type { Tool } from '../../model/tool.js';
import { COST_KEYWORD, toCheckable, type CheckableSchema } from './checkable-schema.js';
import { toProblems, WHOLE } from './problems.js';
import { stepsFor, VALUE_COST_KEYWORD, type ValueCost } from './value-cost.js';

/** Checks arguments against the input schema of a tool (EXEC-2); it never changes them. */
export interface ArgumentValidator {
  /**
   * Everything that is wrong, nothing when the arguments may be sent. Only the first call of all
   * has to wait, for the validator itself to be loaded.
   */
  validate(tool: Tool, args: JsonObject): Problem[] | Promise<Problem[]>;
}

/** How a validator is set up. */
export interface ValidatorOptions {
  /** Compiled schemas kept; the ones used longest ago go first. */
  readonly maxCompiled?: number;
  /** Told once a tool whose schema, or a part of it, cannot be checked. */
  readonly onUnchecked?: (tool: Tool, reason: string) => void;
}

type AjvClass = typeof Ajv2020;

type Run = (args: JsonObject) => Problem[];

/** Subschemas that one run may visit: a hundred thousand rows pass, a hostile schema ends in a moment. */
const MAX_VISITS = 400_000;

/** This much of a compiled pattern costs as much for one character as a visit. */
const INSTRUCTIONS_PER_STEP = 32;

/** Characters of items that cost as much as a visit when items are compared. */
const CHARS_PER_STEP = 16;

/** Thrown inside a run that visited too much. */
class BudgetSpent extends Error {
  override readonly name = 'BudgetSpent';
}

/** What a run has left; runs are synchronous, so there is never more than one. */
interface Budget {
  left: number;
}

function spend(budget: Budget, visits: number): true {
  budget.left -= visits;
  if (budget.left < 0) throw new BudgetSpent();
  return true;
}

/** A validator for the patterns of one schema: linear-time, and paid by the length of the text. */
function regexEngine(patterns: CheckableSchema['patterns'], budget: Budget) {
  const engine = (source: string) => {
    const regex = patterns.get(source);
    // A character under a short pattern takes about as long as a visit; a long one may be at many places at once.
    const steps = Math.max(1, (regex?.size ?? 0) / INSTRUCTIONS_PER_STEP);
    return {
      test: (text: string) => {
        spend(budget, 1 + text.length * steps);
        return regex?.test(text) ?? true;
      },
      // The compiler identifies patterns by this.
      toString: () => `/${source}/`,
    };
  };
  return Object.assign(engine, { code: 'new RegExp' });
}

/** Pays for the JSON of a value before it is made. */
function spendOnJson(value: JsonValue | undefined, budget: Budget): void {
  if (typeof value === 'string') spend(budget, value.length / CHARS_PER_STEP);
  else if (typeof value !== 'object' || value === null) spend(budget, 4 / CHARS_PER_STEP);
  else if (Array.isArray(value)) for (const item of value) spendOnJson(item, budget);
  else {
    for (const name in value) {
      spend(budget, name.length / CHARS_PER_STEP);
      spendOnJson(value[name], budget);
    }
  }
}

function areUnique(items: readonly JsonValue[], budget: Budget): boolean {
  if (items.length < 2) return true;
  spend(budget, items.length);
  // Arguments were found not to nest deep before they are checked.
  spendOnJson(items as JsonValue[], budget);
  const seen = new Set<string>();
  for (const item of items) seen.add(canonicalJson(item));
  return seen.size === items.length;
}

function compile(Ajv: AjvClass, { schema, patterns, hasUnevaluated }: Omit<CheckableSchema, 'skipped'>): Run {
  const budget: Budget = { left: 0 };
  // One instance a schema: nothing of one server can be seen by the schema of another.
  const ajv = new Ajv({
    strict: false,
    // With all errors Ajv counts members as evaluated by a form of a union that failed, and would accept them.
    allErrors: !hasUnevaluated,
    verbose: true,
    validateFormats: false,
    validateSchema: false,
    addUsedSchema: false,
    meta: false,
    logger: false,
    inlineRefs: false,
    // A member called "constructor" is missing unless the arguments themselves have it.
    ownProperties: true,
    code: { regExp: regexEngine(patterns, budget) },
  });
  // Otherwise every form of a union would be tried, even after one that fits.
  ajv.opts.unevaluated = hasUnevaluated;
  ajv.addKeyword({
    keyword: COST_KEYWORD,
    schemaType: 'number',
    before: '$ref',
    errors: false,
    validate: (cost: number) => spend(budget, cost),
  });
  ajv.addKeyword({
    keyword: VALUE_COST_KEYWORD,
    schemaType: 'object',
    before: '$ref',
    errors: false,
    validate: (cost: ValueCost, value: unknown) => spend(budget, stepsFor(cost, value)),
  });
  // The built-in one compares every pair.
  ajv.removeKeyword('uniqueItems');
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    validate: (_unique: boolean, items: JsonValue[]) => areUnique(items, budget),
  });
  const run: ValidateFunction = ajv.compile(schema);
  return (args) => {
    budget.left = MAX_VISITS;
    const problems = run(args) ? [] : toProblems(run.errors ?? []);
    // The errors hold the arguments, which may be large and secret.
    run.errors = null;
    return problems;
  };
}

/** A validator with an empty cache. */
export function createArgumentValidator(options: ValidatorOptions = {}): ArgumentValidator {
  const { maxCompiled = 500, onUnchecked = () => {} } = options;
  /** By hash of the definition, the one used longest ago first; `undefined` for a schema that cannot be checked. */
  const cache = new Map<string, Run | undefined>();
  /** The one used last: a loop over one tool need not reorder the cache. */
  let latest: { readonly hash: string; readonly run: Run | undefined } | undefined;
  let loaded: AjvClass | undefined;
  let loading: Promise<AjvClass> | undefined;

  async function load(): Promise<AjvClass> {
    const { Ajv2020 } = await import('ajv/dist/2020.js');
    loaded = Ajv2020;
    return Ajv2020;
  }

  function prepare(Ajv: AjvClass, tool: Tool): Run | undefined {
    try {
      const checkable = toCheckable(tool.definition['inputSchema']);
      if (checkable.skipped.length > 0) onUnchecked(tool, checkable.skipped.join('; '));
      return compile(Ajv, checkable);
    } catch (thrown) {
      onUnchecked(tool, messageOf(thrown));
      return undefined;
    }
  }

  function runFor(Ajv: AjvClass, tool: Tool): Run | undefined {
    const { hash } = tool;
    if (latest?.hash === hash) return latest.run;
    const run = cache.has(hash) ? cache.get(hash) : prepare(Ajv, tool);
    cache.delete(hash);
    cache.set(hash, run);
    latest = { hash, run };
    if (cache.size > maxCompiled) {
      const oldest = cache.keys().next();
      if (!oldest.done) cache.delete(oldest.value);
    }
    return run;
  }

  function check(Ajv: AjvClass, tool: Tool, args: JsonObject): Problem[] {
    const run = runFor(Ajv, tool);
    try {
      return run?.(args) ?? [];
    } catch (thrown) {
      // Arguments that are too large to be checked are refused: padding must not carry anything past the check (A45).
      const limit =
        thrown instanceof BudgetSpent ? `checking them takes more than ${MAX_VISITS} steps` : messageOf(thrown);
      return [{ path: WHOLE, message: `must be smaller to be checked against the input schema: ${limit}` }];
    }
  }

  return {
    validate(tool, args) {
      if (!isObject(args)) return [{ path: WHOLE, message: 'must be an object' }];
      if (isDeeperThan(args, LIMITS.depth)) {
        return [{ path: WHOLE, message: `must not nest deeper than ${LIMITS.depth} levels` }];
      }
      if (loaded) return check(loaded, tool, args);
      loading ??= load();
      return loading.then((Ajv) => check(Ajv, tool, args));
    },
  };
}
