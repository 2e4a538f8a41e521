import type { JsonObject } from '../../kernel/json.js';
import type { LaunchAnswers, LaunchInput } from '../../model/registry-server.js';
import { namedObjectsAt, readInput, textAt } from '../server-json.js';

/** Thrown inside a plan: this way of launching is not possible, and why. */
export class NotLaunchable extends Error {}

/** What is gathered while one launch is planned. */
export interface Gathering {
  readonly answers: LaunchAnswers;
  /** Begins the names of variables that hold secrets. */
  readonly id: string;
  readonly inputs: LaunchInput[];
  readonly missing: string[];
  readonly problems: string[];
  readonly variables: string[];
}

/** A reference to an environment variable, as a config holds it. */
const REFERENCE = /^\$\{(?:env:)?([A-Za-z_]\w*)\}$/;

/** Text that says "put yours here" instead of being a value. */
const PLACEHOLDER = /<[^<>]{1,100}>|\byour[_-][\w-]{1,60}|\bpath\/to\/[^\s]{0,60}/i;

/**
 * A text of the registry that is going to stand in a config. There `${…}` is filled in from the environment of the user,
 * so text of others must not hold any (A31).
 */
export function registryText(text: string, place: string): string {
  if (text.includes('${')) throw readsEnvironment(place);
  if (text.includes('\0')) throw new NotLaunchable(`${place} holds a NUL character`);
  const placeholder = PLACEHOLDER.exec(text);
  if (placeholder) throw new NotLaunchable(`${place} holds ${placeholder[0]}, a placeholder to fill in by hand`);
  return text;
}

function readsEnvironment(place: string): NotLaunchable {
  return new NotLaunchable(`${place} holds "\${", which would read your environment`);
}

/** `my-server` + `api key` → `MY_SERVER_API_KEY`. */
function variableFor(id: string, key: string): string {
  const name = `${id}_${key}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_');
  return name.replace(/^_+|_+$/g, '').replace(/^(?=\d)/, '_');
}

function answersTo(input: LaunchInput, gathering: Gathering): string[] {
  const given = Object.hasOwn(gathering.answers, input.key) ? gathering.answers[input.key] : undefined;
  return typeof given === 'string' ? [given] : [...(given ?? [])];
}

function complaintAbout(input: LaunchInput, value: string): string | undefined {
  if (value.includes('\0')) return 'holds a NUL character';
  if (REFERENCE.test(value)) return undefined;
  if (input.secret) return 'is a secret: give the name of an environment variable as ${NAME}, not the value';
  if (input.choices && !input.choices.includes(value)) return `must be one of ${input.choices.join(', ')}`;
  if (input.format === 'number' && (value.trim() === '' || !Number.isFinite(Number(value)))) return 'must be a number';
  if (input.format === 'boolean' && value !== 'true' && value !== 'false') return 'must be true or false';
  return undefined;
}

/** The values for one input: what was answered, else its default, else a reference for a secret, else nothing. */
function valuesOf(input: LaunchInput, gathering: Gathering, place: string): string[] {
  gathering.inputs.push(input);
  const given = answersTo(input, gathering);
  if (given.length > 1 && !input.repeated) gathering.problems.push(`${input.key} can be given once only`);
  for (const value of given) {
    const complaint = complaintAbout(input, value);
    if (complaint !== undefined) gathering.problems.push(`${input.key} ${complaint}`);
    const name = REFERENCE.exec(value)?.[1];
    if (name !== undefined) gathering.variables.push(name);
  }
  if (given.length > 0) return given;
  if (input.secret) {
    if (!input.required) return [];
    const name =
      input.where === 'environment' && /^[A-Za-z_]\w*$/.test(input.key)
        ? input.key
        : variableFor(gathering.id, input.key);
    gathering.variables.push(name);
    return [`\${${name}}`];
  }
  if (input.default !== undefined) return [registryText(input.default, `the default of ${place}`)];
  if (input.required) gathering.missing.push(input.key);
  return [];
}

/** Puts variables into a template once; what comes in is never looked at again, and an unknown `{x}` stays. */
export function fillTemplate(template: string, values: ReadonlyMap<string, string>): string {
  return template.replace(/\{([^{}]*)\}/g, (whole, name: string) => values.get(name) ?? whole);
}

/**
 * A template of the registry with its variables filled in. What is said or a secret of ours may be a reference to the environment; parts that
 * only become one together may not (A31).
 */
export function composeText(template: string, values: ReadonlyMap<string, string>, place: string): string {
  registryText(template, place);
  // No value that the registry chose holds one: those that do are of the user, or ours.
  const own = new Map([...values].map(([name, value]) => [name, value.replaceAll('${', 'x')]));
  if (fillTemplate(template, own).includes('${')) throw readsEnvironment(place);
  return fillTemplate(template, values);
}

/** The variables of a template that occur in it, each asked for once. */
export function variablesOf(
  object: JsonObject,
  template: string,
  where: LaunchInput['where'],
  gathering: Gathering,
): Map<string, string> {
  const values = new Map<string, string>();
  for (const [name, variable] of namedObjectsAt(object, 'variables')) {
    if (!template.includes(`{${name}}`)) continue;
    const fixed = textAt(variable, 'value');
    const [value] =
      fixed === undefined
        ? valuesOf(readInput(variable, name, where), gathering, `"${name}"`)
        : [registryText(fixed, `"${name}"`)];
    if (value !== undefined) values.set(name, value);
  }
  return values;
}

/**
 * The values of an argument, a variable of the environment or a header: fixed by the registry and perhaps completed with
 * variables, or what the user says.
 */
export function resolveInput(
  object: JsonObject,
  key: string,
  where: LaunchInput['where'],
  gathering: Gathering,
): string[] {
  const fixed = textAt(object, 'value');
  const place = `"${key}"`;
  if (fixed === undefined) {
    return valuesOf(readInput(object, key, where, object['isRepeated'] === true), gathering, place);
  }
  return [composeText(fixed, variablesOf(object, fixed, where, gathering), place)];
}
