import type { Problem } from '../../kernel/errors.js';
import { isObject, type JsonObject } from '../../kernel/json.js';
import { checkAuth } from './check-auth.js';
import { joinPath, problemAt, type Findings } from '../read/path.js';
import { findConfusableIds, isServerId, suggestServerId } from '../resolve/server-id.js';

const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
// oxlint-disable-next-line no-control-regex
const VARIABLE_NAME = /^[^=\0]+$/;

/** Bytes that end a header, or that no HTTP library will send. */
// oxlint-disable-next-line no-control-regex
const NOT_IN_HEADERS = /[^\t\u0020-\u007e\u0080-\u00ff]/;

/** What is wrong with a header's value; the value itself is never repeated (A34). */
export function headerComplaint(value: string): string | undefined {
  return NOT_IN_HEADERS.test(value) ? 'holds a line break or another character that no header may carry' : undefined;
}

/** What is wrong with the URL of a server; the URL itself is never repeated. */
export function urlComplaint(url: string): string | undefined {
  if (!URL.canParse(url)) return 'is not a valid URL; expected http://… or https://…';
  return /^https?:$/.test(new URL(url).protocol) ? undefined : 'must begin with http:// or https://';
}

/** What in a URL makes it look like one of another host: URL parsers read a backslash as a slash and drop blanks (A42). */
export function hostComplaint(url: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  const found = /[\\\s\u0000-\u001f\u007f-\u009f]/.exec(url)?.[0];
  if (found === undefined) return undefined;
  return `holds a ${found === '\\' ? 'backslash' : 'space or control character'}; write it percent-encoded, or remove it`;
}

function checkNames(map: unknown, path: string, allowed: RegExp, rule: string): Problem[] {
  if (!isObject(map)) return [];
  return Object.keys(map)
    .filter((name) => !allowed.test(name))
    .map((name) => problemAt(joinPath(path, name), rule));
}

/** Header names and values that could smuggle a second header are refused. */
export function checkHeaders(headers: unknown, path: string): Problem[] {
  const problems = checkNames(headers, path, HEADER_NAME, 'is not the name of a header; use letters, digits and "-"');
  if (!isObject(headers)) return problems;
  for (const [name, value] of Object.entries(headers)) {
    const wrong = typeof value === 'string' ? headerComplaint(value) : undefined;
    if (wrong !== undefined) problems.push(problemAt(joinPath(path, name), wrong));
  }
  return problems;
}

function checkText(entry: JsonObject, path: string): Problem[] {
  const texts: Array<[string, unknown]> = [
    [joinPath(path, 'command'), entry.command],
    [joinPath(path, 'cwd'), entry.cwd],
  ];
  if (Array.isArray(entry.args)) entry.args.forEach((arg, i) => texts.push([joinPath(path, 'args', i), arg]));
  if (isObject(entry.env)) for (const [k, v] of Object.entries(entry.env)) texts.push([joinPath(path, 'env', k), v]);
  return texts
    .filter(([, text]) => typeof text === 'string' && text.includes('\0'))
    .map(([at]) => problemAt(at, 'holds a NUL character'));
}

function checkUrl(url: string, path: string): Problem[] {
  const variable = url.indexOf('${');
  if (variable === -1) {
    const wrong = urlComplaint(url);
    return wrong === undefined ? [] : [problemAt(path, wrong)];
  }
  // The rest is known only once the variables are.
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(url.slice(0, variable))?.[1]?.toLowerCase();
  const isWeb = scheme === undefined || scheme === 'http' || scheme === 'https';
  return isWeb ? [] : [problemAt(path, 'must begin with http:// or https://')];
}

function checkTransport(entry: JsonObject, path: string): Findings {
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const hasCommand = entry.command !== undefined;
  const hasUrl = entry.url !== undefined;
  const { type } = entry;
  if (hasCommand && hasUrl) problems.push(problemAt(path, 'has both "command" and "url"; keep one of them'));
  else if (!hasCommand && !hasUrl) {
    problems.push(problemAt(path, 'needs "command" (a local process) or "url" (a remote server)'));
  } else if (type === 'stdio' && hasUrl) {
    problems.push(problemAt(joinPath(path, 'type'), 'is "stdio", but the server has a "url"; use "http" or remove it'));
  } else if ((type === 'http' || type === 'sse') && hasCommand) {
    problems.push(
      problemAt(joinPath(path, 'type'), `is "${type}", but the server has a "command"; use "stdio" or remove it`),
    );
  } else {
    const unused = hasCommand ? ['headers', 'auth'] : ['args', 'env', 'cwd', 'sandbox'];
    for (const key of unused.filter((key) => entry[key] !== undefined)) {
      warnings.push(
        problemAt(joinPath(path, key), `has no effect on a server with "${hasCommand ? 'command' : 'url'}"`),
      );
    }
  }
  if (typeof entry.url === 'string' && entry.url !== '') problems.push(...checkUrl(entry.url, joinPath(path, 'url')));
  return { problems, warnings };
}

/** Everything about `servers` that its shape alone does not say. */
export function checkServers(servers: unknown, path: string): Findings {
  if (!isObject(servers)) return { problems: [], warnings: [] };
  const problems: Problem[] = [];
  const warnings = findConfusableIds(Object.keys(servers).filter(isServerId), path);
  for (const [id, entry] of Object.entries(servers)) {
    const at = joinPath(path, id);
    if (!isServerId(id)) {
      const rule = 'an id has 1 to 64 letters, digits, "_", "." or "-"';
      problems.push(problemAt(at, `${rule}; use "${suggestServerId(id)}"`));
    }
    if (!isObject(entry)) continue;
    const transport = checkTransport(entry, at);
    problems.push(
      ...transport.problems,
      ...checkHeaders(entry.headers, joinPath(at, 'headers')),
      ...checkNames(
        entry.env,
        joinPath(at, 'env'),
        VARIABLE_NAME,
        'is not the name of a variable; it must not be empty or contain "="',
      ),
      ...checkText(entry, at),
      ...checkAuth(entry.auth, joinPath(at, 'auth')),
    );
    warnings.push(...transport.warnings);
  }
  return { problems, warnings };
}
