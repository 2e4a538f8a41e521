import { messageOf, type Problem } from '../../kernel/errors.js';
import { compileFieldGlob } from '../../kernel/patterns/field-glob.js';
import { isObject } from '../../kernel/json.js';
import { compilePattern } from '../../kernel/patterns/pattern.js';
import { nearestNames } from '../../kernel/text.js';
import { compileValuePattern, isValuePattern } from '../../kernel/patterns/value-pattern.js';
import { joinPath, problemAt, type Findings } from '../read/path.js';

const SHOWN = 80;

function complaint(text: string, compile: (text: string) => unknown): string | undefined {
  try {
    compile(text);
    return undefined;
  } catch (thrown) {
    const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
    return `${JSON.stringify(shown)} cannot be used: ${messageOf(thrown)}`;
  }
}

/** The texts of a field that is one text or a list of them, each with its path. */
function textsAt(value: unknown, path: string): Array<[text: string, path: string]> {
  const isText = (entry: unknown): entry is string => typeof entry === 'string' && entry !== '';
  if (isText(value)) return [[value, path]];
  const list: unknown[] = Array.isArray(value) ? value : [];
  return list.flatMap((entry, i): Array<[string, string]> => (isText(entry) ? [[entry, joinPath(path, i)]] : []));
}

/** Globs and patterns that do not compile are problems; unknown servers are warnings (NEG-6). */
export function checkRedaction(rules: unknown, path: string, knownServers: readonly string[] | undefined): Findings {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const [i, rule] of (Array.isArray(rules) ? rules : []).entries()) {
    if (!isObject(rule)) continue;
    const at = joinPath(path, i);
    for (const [text, place] of textsAt(rule['match'], joinPath(at, 'match'))) {
      const wrong = complaint(text, isValuePattern(text) ? compileValuePattern : compileFieldGlob);
      if (wrong !== undefined) problems.push(problemAt(place, wrong));
    }
    for (const [text, place] of textsAt(rule['servers'], joinPath(at, 'servers'))) {
      const wrong = complaint(text, compilePattern);
      if (wrong !== undefined) problems.push(problemAt(place, wrong));
      else if (knownServers && /^[\w.-]+$/.test(text) && !knownServers.includes(text)) {
        const [nearest] = nearestNames(text, knownServers, 1);
        const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
        warnings.push(problemAt(place, `no server is called "${text}"${hint}`));
      }
    }
  }
  return { problems, warnings };
}
