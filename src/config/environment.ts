import { isAbsolute } from 'node:path';
import type { Problem } from '../kernel/errors.js';
import { problemAt } from './read/path.js';

/** The environment of the process, as it is handed in. */
export type Variables = Readonly<Record<string, string | undefined>>;

/** Every environment variable toolscout honours besides those a config names (CFG-7). */
export interface Environment {
  /** `MCP_AUTH_TOKEN`: for every configured remote server that has no credential of its own. */
  readonly authToken?: string;
  /** `<NAME>_MCP_TOKEN` of one server, e.g. `GITHUB_MCP_TOKEN` for `github`. */
  serverToken(id: string): string | undefined;
  /** `CCOS_MCP_CACHE_DIR` */
  readonly cacheDirectory?: string;
  /** `CCOS_MCP_CACHE_TTL`, which is in seconds */
  readonly cacheTtlMs?: number;
  /** `TOOLSCOUT_STORE`: where state is kept, when the config does not say. */
  readonly store?: string;
  /** `TOOLSCOUT_STORE_KEY`: encrypts tokens in a shared database. */
  readonly storeKey?: string;
  /** `TOOLSCOUT_STORE_KEY_FILE`: a file with that key. */
  readonly storeKeyFile?: string;
  /** `TOOLS_YAML_PATH` */
  readonly toolsYamlPath: string;
  /** `TOOLS_YAML_PATH` is set: the user named the inventory file. */
  readonly isToolsYamlNamed: boolean;
  /** `REGISTRY_REFRESH_SEC`, which is in seconds */
  readonly registryRefreshMs: number;
  /** `REGISTRY_STALE_MAX_SEC`, which is in seconds */
  readonly registryStaleMaxMs: number;
  /** `DISCOVERY_TIMEOUT_MS` */
  readonly discoveryTimeoutMs: number;
  /** `DISCOVERY_UA` */
  readonly discoveryUserAgent: string;
  /** `TOOLS_REGISTRY_ENABLED` */
  readonly registryEnabled: boolean;
  /** `REGISTRY_ALLOWED_HOSTS`, lower-case; `undefined` when every host is allowed. */
  readonly registryAllowedHosts?: readonly string[];
  /** `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, or `OTEL_EXPORTER_OTLP_ENDPOINT` with the path of traces: where spans are sent. */
  readonly tracesUrl?: string;
  /** `OTEL_EXPORTER_OTLP_HEADERS`: `name=value,…` */
  readonly traceHeaders: Readonly<Record<string, string>>;
  /** `OTEL_SERVICE_NAME` */
  readonly serviceName: string;
  /** `NO_COLOR` is set to anything. */
  readonly noColor: boolean;
  /** `XDG_DATA_HOME` */
  readonly dataHome?: string;
  /** `LOCALAPPDATA`, which Windows sets */
  readonly localAppData?: string;
  /** `XDG_CONFIG_HOME` */
  readonly configHome?: string;
  /** `TOOLSCOUT_VIA`: the toolscouts that started this one. */
  readonly via?: string;
  /** Variables whose value makes no sense; their default is in force. */
  readonly problems: readonly Problem[];
}

/** The variable that holds one server's token: `my-server` → `MY_SERVER_MCP_TOKEN`. */
export function tokenVariable(id: string): string {
  return `${id.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_MCP_TOKEN`;
}

/** The value of a variable; what is absent or blank counts as not set. Inherited names are never found. */
export function readVariable(env: Variables, name: string): string | undefined {
  const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined;
  return value === '' ? undefined : value;
}

/** `name=value,…`, values escaped as in a URL; what is not of that form is left out. */
function readPairs(text: string): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): Array<[string, string]> => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(0, at)).trim();
    const value = decodePart(pair.slice(at + 1).trim());
    const isHeader = /^[\w-]+$/.test(name) && /^[\u0020-\u007e]*$/.test(value);
    return isHeader ? [[name, value]] : [];
  });
  return Object.fromEntries(pairs);
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A lone percent sign means itself.
    return text;
  }
}

/** Reads every variable in one place; a senseless value is reported and its default taken. */
export function readEnvironment(env: Variables): Environment {
  const problems: Problem[] = [];
  const text = (name: string): string | undefined => readVariable(env, name);
  const refuse = (name: string, expected: string): void => {
    problems.push(problemAt(name, `expected ${expected}; this environment variable is ignored`));
  };
  const whole = (name: string, least: number): number | undefined => {
    const value = text(name);
    if (value === undefined) return undefined;
    const number = /^\d{1,12}$/.test(value) ? Number(value) : NaN;
    if (number >= least) return number;
    refuse(name, `a whole number of at least ${least}`);
    return undefined;
  };
  /** The names of these variables are those of others, and so is their unit. */
  const seconds = (name: string, least: number): number | undefined => {
    const value = whole(name, least);
    return value === undefined ? undefined : value * 1000;
  };
  const flag = (name: string, otherwise: boolean): boolean => {
    const value = text(name)?.toLowerCase();
    if (value === undefined) return otherwise;
    if (/^(true|1|yes|on)$/.test(value)) return true;
    if (/^(false|0|no|off)$/.test(value)) return false;
    refuse(name, 'true or false');
    return otherwise;
  };
  const directory = (name: string): string | undefined => {
    const value = text(name);
    if (value === undefined || isAbsolute(value)) return value;
    refuse(name, 'an absolute path');
    return undefined;
  };
  const userAgent = (): string => {
    const value = text('DISCOVERY_UA');
    if (value === undefined || /^[\u0020-\u007e]+$/.test(value)) return value ?? 'toolscout';
    refuse('DISCOVERY_UA', 'printable ASCII');
    return 'toolscout';
  };
  const address = (name: string): string | undefined => {
    const value = text(name);
    if (value === undefined || (URL.canParse(value) && /^https?:/.test(value))) return value;
    refuse(name, 'an http or https URL');
    return undefined;
  };
  const collector = address('OTEL_EXPORTER_OTLP_ENDPOINT');
  const hosts = text('REGISTRY_ALLOWED_HOSTS')
    ?.split(',')
    .map((host) => host.trim().toLowerCase())
    .filter((host) => host !== '');
  return {
    authToken: text('MCP_AUTH_TOKEN'),
    serverToken: (id) => text(tokenVariable(id)),
    cacheDirectory: text('CCOS_MCP_CACHE_DIR'),
    cacheTtlMs: seconds('CCOS_MCP_CACHE_TTL', 0),
    store: text('TOOLSCOUT_STORE'),
    storeKey: text('TOOLSCOUT_STORE_KEY'),
    storeKeyFile: text('TOOLSCOUT_STORE_KEY_FILE'),
    toolsYamlPath: text('TOOLS_YAML_PATH') ?? 'tools/tools.yaml',
    isToolsYamlNamed: text('TOOLS_YAML_PATH') !== undefined,
    registryRefreshMs: seconds('REGISTRY_REFRESH_SEC', 1) ?? 60_000,
    registryStaleMaxMs: seconds('REGISTRY_STALE_MAX_SEC', 0) ?? 3_600_000,
    discoveryTimeoutMs: whole('DISCOVERY_TIMEOUT_MS', 1) ?? 1500,
    discoveryUserAgent: userAgent(),
    registryEnabled: flag('TOOLS_REGISTRY_ENABLED', true),
    registryAllowedHosts: hosts,
    tracesUrl:
      address('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ?? (collector && `${collector.replace(/\/+$/, '')}/v1/traces`),
    traceHeaders: readPairs(text('OTEL_EXPORTER_OTLP_HEADERS') ?? ''),
    serviceName: text('OTEL_SERVICE_NAME') ?? 'toolscout',
    noColor: text('NO_COLOR') !== undefined,
    dataHome: directory('XDG_DATA_HOME'),
    localAppData: text('LOCALAPPDATA'),
    configHome: directory('XDG_CONFIG_HOME'),
    via: text('TOOLSCOUT_VIA'),
    problems,
  };
}
