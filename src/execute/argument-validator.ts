import type { Ajv2020, ValidateFunction } from 'ajv/dist/2020.js';
import { messageOf, type Problem } from '../kernel/errors.js';
import { canonicalJson, isDeeperThan, isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import { LIMITS } from '../kernel/limits.js';
import type { Tool } from '../model/tool.js';
import { COST_KEYWORD, toCheckable, type CheckableSchema } from './checkable-schema.js';
import { withoutPatterns } from './pattern-free.js';
import { toProblems, WHOLE } from './problems.js';

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
  /** Told once a tool whose arguments, or a part of them, cannot be checked. */
  readonly onUnchecked?: (tool: Tool, reason: string) => void;
}

type AjvClass = typeof Ajv2020;

type Run = (args: JsonObject) => Problem[];

/** A compiled schema; `check` is `undefined` when it cannot be checked. */
interface Compiled {
  readonly check: Run | undefined;
  /** Compiles it without its patterns, where it has some. */
  readonly loosen: (() => Run) | undefined;
  /** The same without its patterns, for arguments that are too long for those; compiled when there are such. */
  loose: Run | undefined;
  /** Whether it was told already that some run went over its budget. */
  warned: boolean;
}

/** Subschemas that one run may visit: thousands of rows pass, a hostile schema ends in milliseconds. */
const MOST_VISITS = 200_000;

/** One visit pays for this many characters under a pattern. */
const CHARACTERS_PER_VISIT = 2;

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
  if (budget.left < 0) throw new BudgetSpent(`checking them takes more than ${MOST_VISITS} steps`);
  return true;
}

/** A validator for the patterns of one schema: linear-time, and paid by the length of the text. */
function regexEngine(patterns: CheckableSchema['patterns'], budget: Budget) {
  const engine = (source: string) => {
    const regex = patterns.get(source);
    return {
      test: (text: string) => {
        spend(budget, 1 + Math.ceil(text.length / CHARACTERS_PER_VISIT));
        return regex?.test(text) ?? true;
      },
      // The compiler tells patterns apart by this.
      toString: () => `/${source}/`,
    };
  };
  return Object.assign(engine, { code: 'new RegExp' });
}

function areUnique(items: readonly JsonValue[], budget: Budget): boolean {
  spend(budget, items.length);
  const seen = new Set<string>();
  for (const item of items) seen.add(canonicalJson(item));
  return seen.size === items.length;
}

function compile(Ajv: AjvClass, { schema, patterns, hasUnevaluated }: Omit<CheckableSchema, 'skipped'>): Run {
  const budget: Budget = { left: 0 };
  // One instance a schema: nothing of one server can be seen by the schema of another.
  const ajv = new Ajv({
    strict: false,
    allErrors: true,
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
    budget.left = MOST_VISITS;
    const problems = run(args) ? [] : toProblems(run.errors ?? []);
    // The errors hold the arguments, which may be large and secret.
    run.errors = null;
    return problems;
  };
}

/** A validator with an empty cache. */
export function createArgumentValidator(options: ValidatorOptions = {}): ArgumentValidator {
  const { maxCompiled = 500, onUnchecked = () => {} } = options;
  /** By hash of the definition, the one used longest ago first. */
  const cache = new Map<string, Compiled>();
  /** The one used last: a loop over one tool need not reorder the cache. */
  let latest: { readonly hash: string; readonly compiled: Compiled } | undefined;
  let loaded: AjvClass | undefined;
  let loading: Promise<AjvClass> | undefined;

  async function load(): Promise<AjvClass> {
    const { Ajv2020 } = await import('ajv/dist/2020.js');
    loaded = Ajv2020;
    return Ajv2020;
  }

  function prepare(Ajv: AjvClass, tool: Tool): Compiled {
    try {
      const checkable = toCheckable(tool.definition['inputSchema']);
      if (checkable.skipped.length > 0) onUnchecked(tool, checkable.skipped.join('; '));
      const { schema, patterns, hasUnevaluated } = checkable;
      const loosen = (): Run => compile(Ajv, { schema: withoutPatterns(schema), patterns: new Map(), hasUnevaluated });
      return {
        check: compile(Ajv, checkable),
        loosen: patterns.size > 0 ? loosen : undefined,
        loose: undefined,
        warned: false,
      };
    } catch (thrown) {
      onUnchecked(tool, messageOf(thrown));
      return { check: undefined, loosen: undefined, loose: undefined, warned: true };
    }
  }

  function compiledFor(Ajv: AjvClass, tool: Tool): Compiled {
    if (latest?.hash === tool.hash) return latest.compiled;
    let compiled = cache.get(tool.hash);
    if (compiled) cache.delete(tool.hash);
    else compiled = prepare(Ajv, tool);
    cache.set(tool.hash, compiled);
    latest = { hash: tool.hash, compiled };
    if (cache.size > maxCompiled) {
      const oldest = cache.keys().next();
      if (!oldest.done) cache.delete(oldest.value);
    }
    return compiled;
  }

  function check(Ajv: AjvClass, tool: Tool, args: JsonObject): Problem[] {
    const compiled = compiledFor(Ajv, tool);
    try {
      return compiled.check?.(args) ?? [];
    } catch (thrown) {
      const problems = thrown instanceof BudgetSpent ? checkLoosely(compiled, args) : undefined;
      // A budget that is spent, or a stack: the server checks its arguments itself.
      if (!compiled.warned) onUnchecked(tool, `${problems ? 'its patterns: ' : ''}${messageOf(thrown)}`);
      compiled.warned = true;
      return problems ?? [];
    }
  }

  /** What is wrong besides the patterns: one long text must not carry everything else past the check. */
  function checkLoosely(compiled: Compiled, args: JsonObject): Problem[] | undefined {
    try {
      compiled.loose ??= compiled.loosen?.();
      return compiled.loose?.(args);
    } catch {
      // Not the patterns made it too much; who asked for this says so.
      return undefined;
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
