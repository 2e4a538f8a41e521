import { compileSelection } from '../answers/index.js';
import { configurationError, type LoadedConfig } from '../config/index.js';
import { ToolscoutError, type Problem } from '../kernel/errors.js';
import type { RuleConfig } from '../model/config.js';
import { compileRules } from '../normalize/index.js';

/** Expressions of rules that are not JMESPath (SEC-11). */
function badExpressions(rules: readonly RuleConfig[]): Problem[] {
  return rules.flatMap(({ confirm }, index) => {
    if (typeof confirm !== 'object') return [];
    try {
      compileSelection(confirm.when);
      return [];
    } catch (thrown) {
      if (!(thrown instanceof ToolscoutError)) throw thrown;
      const said = thrown.problems[0]?.message ?? thrown.message;
      return [{ path: `toolRules[${index}].confirm.when`, message: `is not a JMESPath expression: ${said}` }];
    }
  });
}

/**
 * Adds the problems that only the rooms can find: rules that can never decide (PAT-4).
 *
 * @throws ToolscoutError `CONFIGURATION_ERROR` that names every expression of a rule that cannot be read.
 */
export function judgeConfig(loaded: LoadedConfig): LoadedConfig {
  const { config, warnings, path, source } = loaded;
  const problems = badExpressions(config.toolRules);
  if (problems.length > 0) throw configurationError(path ?? source, problems);
  return { ...loaded, warnings: [...warnings, ...compileRules(config.toolRules).warnings] };
}
