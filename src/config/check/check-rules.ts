import { messageOf, type Problem } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import { compilePattern } from '../../kernel/patterns/pattern.js';
import { nearestNames } from '../../kernel/text.js';
import { joinPath, problemAt, type Findings } from '../read/path.js';

interface ReadRule {
  readonly path: string;
  readonly server: string | undefined;
  readonly decides: boolean;
  readonly tags: boolean;
}

function complaint(text: string): string | undefined {
  try {
    compilePattern(text);
    return undefined;
  } catch (thrown) {
    return messageOf(thrown).replace(/^I/, 'i');
  }
}

function readRule(rule: unknown, path: string, problems: Problem[]): ReadRule | undefined {
  if (!isObject(rule)) return undefined;
  const check = (text: unknown, at: string): void => {
    const wrong = typeof text === 'string' && text !== '' ? complaint(text) : undefined;
    if (wrong !== undefined) problems.push(problemAt(at, wrong));
  };
  const patternPath = joinPath(path, 'pattern');
  if (Array.isArray(rule.pattern)) rule.pattern.forEach((text, i) => check(text, joinPath(patternPath, i)));
  else check(rule.pattern, patternPath);
  check(rule.server, joinPath(path, 'server'));
  return {
    path,
    server: typeof rule.server === 'string' ? rule.server : undefined,
    decides: typeof rule.enabled === 'boolean' || rule.confirm !== undefined,
    tags: Array.isArray(rule.tags) && rule.tags.length > 0,
  };
}

/** Patterns that do not compile are problems; rules without effect are warnings (PAT-1). */
export function checkRules(rules: unknown, path: string, knownServers: readonly string[] | undefined): Findings {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [i, raw] of (Array.isArray(rules) ? rules : []).entries()) {
    const rule = readRule(raw, joinPath(path, i), problems);
    if (!rule) continue;
    if (!rule.decides && !rule.tags) {
      warnings.push(problemAt(rule.path, 'has no effect; give it "enabled", "confirm" or "tags"'));
    }
    if (rule.server !== undefined && knownServers && /^[\w.-]+$/.test(rule.server)) {
      const [nearest] = nearestNames(rule.server, knownServers, 1);
      const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
      if (!knownServers.includes(rule.server)) {
        warnings.push(problemAt(joinPath(rule.path, 'server'), `no server is called "${rule.server}"${hint}`));
      }
    }
  }
  return { problems, warnings };
}

/** Patterns outside of rules that do not compile: those of `pinned`, and the names in `hostModes`. */
export function checkModes(pinned: unknown, hostModes: unknown, pathOf: (field: string) => string): Problem[] {
  const written = [
    ...(Array.isArray(pinned) ? pinned : []).map((text, i) => ({ text, at: joinPath(pathOf('pinned'), i) })),
    ...(isObject(hostModes) ? Object.keys(hostModes) : []).map((text) => ({
      text,
      at: joinPath(pathOf('hostModes'), text),
    })),
  ];
  return written.flatMap(({ text, at }) => {
    const wrong = typeof text === 'string' && text !== '' ? complaint(text) : undefined;
    return wrong === undefined ? [] : [problemAt(at, wrong)];
  });
}
