import type { Problem } from '../../kernel/errors.js';
import { isObject } from '../../kernel/json.js';
import { Config, READ_ONCE } from '../../model/config.js';
import { checkRedaction } from './check-redaction.js';
import { checkModes, checkRules } from './check-rules.js';
import { checkHeaders, checkServers } from './check-servers.js';
import { checkStore } from './check-store.js';
import { describeValue, explainIssues } from './issues.js';
import { joinPath, problemAt, ROOT, type Findings } from '../read/path.js';
import { findForeignValues } from './plain-data.js';
import { renameFields } from './renamed-fields.js';
import { SECTION } from '../read/raw-field.js';

const FIELDS = new Set(Object.keys(Config.shape));

type Fields = Record<string, unknown>;

/** A config that was looked at: its fields in one place, and everything there is to say about them. */
export interface CheckedConfig extends Findings {
  readonly fields: Fields;
}

/** Fields that say something: in YAML a name with nothing behind it means the default. */
function given(section: object): Fields {
  const fields: Fields = Object.create(null) as Fields;
  for (const [key, value] of Object.entries(section)) if (value !== null && value !== undefined) fields[key] = value;
  return fields;
}

function checkSection(fields: Fields, base: string, knownServers: readonly string[] | undefined): Findings {
  const parsed = Config.safeParse(fields, READ_ONCE);
  const extraKeys = base === ROOT ? [SECTION] : [];
  const place = { schema: Config, value: fields, base, extraKeys };
  const rules = checkRules(fields.toolRules, joinPath(base, 'toolRules'), knownServers);
  const redaction = checkRedaction(fields.redaction, joinPath(base, 'redaction'), knownServers);
  const servers = checkServers(fields.servers, joinPath(base, 'servers'));
  return {
    problems: [
      ...(parsed.success ? [] : explainIssues(parsed.error.issues, place)),
      ...rules.problems,
      ...redaction.problems,
      ...checkModes(fields.pinned, fields.hostModes, (field) => joinPath(base, field)),
      ...servers.problems,
      ...checkStore(fields.store, joinPath(base, 'store')),
      ...checkHeaders(fields.authHeaders, joinPath(base, 'authHeaders')),
    ],
    warnings: [...rules.warnings, ...redaction.warnings, ...servers.warnings],
  };
}

/** One complaint a place: a value that is foreign is not also of the wrong type. */
function withoutEchoes(foreign: readonly Problem[], others: readonly Problem[]): Problem[] {
  const taken = new Set(foreign.map((problem) => problem.path));
  return [...foreign, ...others.filter((problem) => !taken.has(problem.path))];
}

/** Looks at a whole config. `shared`: the file belongs to another program as well, so its other fields are ignored. */
export function checkConfig(raw: unknown, shared = false): CheckedConfig {
  const foreign = findForeignValues(raw);
  if (!isObject(raw) || foreign.some((problem) => problem.path === ROOT)) {
    return { fields: {}, problems: foreign, warnings: [] };
  }
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  // For editors; it says nothing about what the config means.
  const { [SECTION]: section, $schema: address, ...outer } = given(raw);
  if (address !== undefined && typeof address !== 'string') {
    problems.push(problemAt('$schema', `expected a string, found ${describeValue(address)}`));
  }
  if (section !== undefined && !isObject(section)) {
    problems.push(problemAt(SECTION, `expected an object, found ${describeValue(section)}`));
  }
  const named = renameFields(outer, ROOT);
  const namedInside = renameFields(isObject(section) ? given(section) : {}, SECTION);
  const inner = namedInside.fields;
  const top = Object.fromEntries(Object.entries(named.fields).filter(([key]) => !shared || FIELDS.has(key)));
  for (const each of [named, namedInside]) {
    problems.push(...each.problems);
    // The other program has these names from elsewhere.
    if (!shared) warnings.push(...each.warnings);
  }
  for (const key of Object.keys(inner).filter((name) => Object.hasOwn(top, name))) {
    const path = namedInside.writtenPath(joinPath(SECTION, key));
    const other = named.writtenPath(joinPath(ROOT, key));
    problems.push(problemAt(path, `is also given as ${other}; keep one of the two`));
  }

  const fields: Fields = { ...top, ...inner };
  const imports = Array.isArray(fields.sources) && fields.sources.length > 0;
  const knownServers = imports ? undefined : Object.keys(isObject(fields.servers) ? fields.servers : {});
  const parts = [
    [top, ROOT, named] as const,
    ...(section === undefined ? [] : [[inner, SECTION, namedInside] as const]),
  ];
  for (const [part, base, { writtenPath }] of parts) {
    const asWritten = (problem: Problem): Problem => ({ ...problem, path: writtenPath(problem.path) });
    const findings = checkSection(part, base, knownServers);
    problems.push(...findings.problems.map(asWritten));
    warnings.push(...findings.warnings.map(asWritten));
  }
  return { fields, problems: withoutEchoes(foreign, problems), warnings };
}

/** Every problem of a config, and everything in it that deserves a look, without loading it (CFG-3). */
export function validateConfig(raw: unknown): Findings {
  const { problems, warnings } = checkConfig(raw);
  return { problems, warnings };
}
