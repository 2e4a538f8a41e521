import * as z from 'zod';
import { ConfirmConfig, ConfirmRuleConfig } from './confirm-config.js';
import { AuditConfig } from './audit-export.js';
import { OverloadConfig } from './overload-config.js';
import { TrafficConfig } from './traffic.js';
import { SCOPES } from './principal.js';
import { SandboxConfig } from './sandbox-config.js';
import { SearchConfig } from './search-config.js';

/** How a config is parsed: it is read once, so a parser that is generated for it costs more than it saves. */
export const READ_ONCE = { jitless: true } as const;

const text = z.string();
const DAY_MS = 86_400_000;
const milliseconds = z.int().min(0).max(DAY_MS);
const textMap = z.record(z.string(), z.string());

/** A rule as it is written in a config: pattern → enabled / tags (PAT-1…4). */
export const RuleConfig = z.strictObject({
  pattern: z.union([text.min(1), z.array(text.min(1)).min(1)]),
  server: text.min(1).optional(),
  enabled: z.boolean().optional(),
  tags: z.array(text.min(1)).optional(),
  confirm: ConfirmRuleConfig.optional(),
});
/** See the schema of the same name. */
export type RuleConfig = z.infer<typeof RuleConfig>;

const redactionPlace = z.enum(['logs', 'arguments', 'results']);

/** What is redacted as it is written in a config (NEG-6). */
export const RedactionConfig = z.strictObject({
  /** Globs over paths of fields, or `/regex/` on values. */
  match: z.union([text.min(1), z.array(text.min(1)).min(1)]),
  action: z.enum(['mask', 'hash', 'drop']).default('mask'),
  where: z.union([redactionPlace, z.array(redactionPlace).min(1)]).default('logs'),
  /** Ids or patterns of servers; the rule holds only for them. */
  servers: z.array(text.min(1)).min(1).optional(),
});
/** See the schema of the same name. */
export type RedactionConfig = z.infer<typeof RedactionConfig>;

/** Token bucket of one server (CONN-7). */
export const RateLimitConfig = z.strictObject({
  requestsPerSecond: z.number().positive().default(10),
  burstSize: z.int().positive().default(20),
});
/** See the schema of the same name. */
export type RateLimitConfig = z.infer<typeof RateLimitConfig>;

const UNLIMITED = z.literal(false);

/** The rate limit of a server with other settings; `false` is no limit. */
export function overrideRateLimit(
  base: RateLimitConfig | false,
  written: Partial<RateLimitConfig> | false | undefined,
): RateLimitConfig | false {
  if (written === undefined || written === false) return written ?? base;
  return { ...(base || RateLimitConfig.parse({})), ...written };
}

/** When and how often a request that failed is sent again (CONN-7). */
export const RetryConfig = z.strictObject({
  maxRetries: z.int().min(0).max(20).default(3),
  initialDelayMs: milliseconds.default(1000),
  backoffMultiplier: z.number().min(1).max(10).default(2),
  maxDelayMs: milliseconds.default(30_000),
  /** How far a delay strays, as a share of it. */
  jitterFactor: z.number().min(0).max(1).default(0.1),
});
/** See the schema of the same name. */
export type RetryConfig = z.infer<typeof RetryConfig>;

/** How toolscout signs in to a remote server that asks for OAuth (CONN-6). Every field is optional. */
export const AuthConfig = z.strictObject({
  type: z.enum(['authorization-code', 'client-credentials']).optional(),
  /** A client that was registered by hand. */
  clientId: text.min(1).optional(),
  clientSecret: text.min(1).optional(),
  /** The address of a Client ID Metadata Document, which is then the client id. */
  clientMetadataUrl: text.min(1).optional(),
  /** The only authorization server that is accepted. */
  issuer: text.min(1).optional(),
  scopes: z.array(text.min(1)).optional(),
  /** The local port that the browser is sent back to; any free one by default. */
  redirectPort: z.int().min(1).max(65_535).optional(),
});
/** See the schema of the same name. */
export type AuthConfig = z.infer<typeof AuthConfig>;

/** Tokens that an answer may cost; `false` is no bound. */
const maxTokens = z.union([z.int().min(500).max(1_000_000), z.literal(false)]);

/** What an answer may cost when nothing else is said. */
export const DEFAULT_MAX_TOKENS = 8000;

/** What is done with results that are too large for an agent (ANS-1). */
export const AnswersConfig = z.strictObject({
  /** Absent: {@link DEFAULT_MAX_TOKENS}, and no bound for tools that a host of the mode `passthrough` is offered. */
  maxTokens: maxTokens.optional(),
  /** What a tool that declares the size of its results can raise the budget to (ANS-5). */
  maxDeclaredTokens: z.int().min(0).max(1_000_000).default(25_000),
  /** How long a result is kept to be read on. */
  keepMs: milliseconds.default(3_600_000),
  /** How much is kept of all results together: 64 MB by default, a terabyte at most. */
  keepBytes: z.int().min(0).max(1_099_511_627_776).default(67_108_864),
});
/** See the schema of the same name. */
export type AnswersConfig = z.infer<typeof AnswersConfig>;

/** The budget of one server, and of single tools of it. */
export const ServerAnswers = z.strictObject({
  maxTokens: maxTokens.optional(),
  tools: z.record(z.string(), maxTokens).optional(),
});
/** See the schema of the same name. */
export type ServerAnswers = z.infer<typeof ServerAnswers>;

/** What is done about results that show signs of an attack: nothing, fence and name them, or keep them back (SEC-13). */
export const ScreenMode = z.enum(['off', 'mark', 'hold']);
/** See the schema of the same name. */
export type ScreenMode = z.infer<typeof ScreenMode>;

/** One entry of `servers{}`: `command` for a process, `url` for a remote server. */
export const ServerEntry = z.strictObject({
  type: z.enum(['stdio', 'http', 'sse']).optional(),
  command: text.min(1).optional(),
  args: z.array(text).optional(),
  env: textMap.optional(),
  cwd: text.optional(),
  /** The command it is started through, instead of the one for all; only in a config of your own (A49). */
  sandbox: SandboxConfig.optional(),
  url: text.min(1).optional(),
  headers: textMap.optional(),
  auth: AuthConfig.optional(),
  enabled: z.boolean().optional(),
  title: text.optional(),
  /** What it is for, in a sentence, for agents that look for a server. */
  description: text.optional(),
  tags: z.array(text.min(1)).optional(),
  /** What it offers to skills, as `incident:read` (NEG-1). */
  capabilities: z.array(text.min(1).max(200)).optional(),
  /** Started with toolscout and kept running (NEG-7). */
  eager: z.boolean().optional(),
  timeoutMs: milliseconds.optional(),
  totalTimeoutMs: milliseconds.optional(),
  autoApprove: z.array(text.min(1)).optional(),
  toolTimeoutsMs: z.record(z.string(), milliseconds).optional(),
  connectTimeoutMs: milliseconds.optional(),
  idleTimeoutMs: milliseconds.optional(),
  rateLimit: z.union([UNLIMITED, RateLimitConfig.partial()]).optional(),
  retry: RetryConfig.partial().optional(),
  answers: ServerAnswers.optional(),
  screenResults: ScreenMode.optional(),
});
/** See the schema of the same name. */
export type ServerEntry = z.infer<typeof ServerEntry>;

/** What hosts are offered (META-5). */
export const ModeName = z.enum(['meta', 'passthrough', 'hybrid', 'code', 'auto']);
/** See the schema of the same name. */
export type ModeName = z.infer<typeof ModeName>;

/** Everything servers can be imported from: the clients people have, then formats of other gateways (CFG-5). */
export const SOURCE_TYPES = [
  'claude-desktop',
  'claude-code',
  'cursor',
  'vscode',
  'copilot',
  'windsurf',
  'cline',
  'roo',
  'zed',
  'continue',
  'codex',
  'gemini-cli',
  'goose',
  'lm-studio',
  'amazon-q',
  'opencode',
  'warp',
  'kiro',
  'docker-mcp',
  'junie',
  'air',
  'ranger-mcp-json',
  'tools-yaml',
  'ccos-overrides',
] as const;

/** One of {@link SOURCE_TYPES}. */
export type SourceType = (typeof SOURCE_TYPES)[number];

const sourceType = z.enum(SOURCE_TYPES);

/** One entry of `sources[]`: the name of a client, or a name with what is to be read of it. */
export const SourceConfig = z.union([
  sourceType,
  z.strictObject({
    type: sourceType,
    /** Read this file, and none of those the client is known to keep. */
    path: text.min(1).optional(),
    /** Read only files of this scope; with `path`: what the file counts as. */
    scope: z.enum(['user', 'project']).optional(),
    /** The folder of the project whose files are read. */
    project: text.min(1).optional(),
    /** Only these servers. */
    only: z.array(text.min(1)).optional(),
    /** Ids that servers get here, by those they have there. */
    rename: textMap.optional(),
  }),
]);
/** See the schema of the same name. */
export type SourceConfig = z.infer<typeof SourceConfig>;

const AiConfig = z.strictObject({
  enabled: z.boolean().default(false),
  baseUrl: text.min(1).default('https://api.openai.com/v1'),
  apiKey: text.optional(),
  model: text.min(1).default('gpt-4o-mini'),
  fallbackToAi: z.boolean().default(true),
  cache: z.boolean().default(true),
});

/** Where skills are (NEG-2): folders that hold a `skill.md`, or folders of such folders. */
export const SkillsConfig = z.strictObject({
  directories: z.array(text.min(1)).default([]),
});
/** See the schema of the same name. */
export type SkillsConfig = z.infer<typeof SkillsConfig>;

const CacheConfig = z.strictObject({
  enabled: z.boolean().default(true),
  ttlMs: z.int().min(0).default(DAY_MS),
});

/** A key that opens the HTTP front: what it is called in the audit log, and what its holder may do (S12). */
const HttpKey = z
  .strictObject({
    name: text.regex(/^[\w.@-]{1,64}$/, 'expected 1 to 64 letters, digits, dots, hyphens or underscores'),
    /** A variable, so that the key itself never stands in a file. */
    key: text.regex(/^\$\{[^}]+\}$/, 'expected a variable such as ${TEAM_KEY}').optional(),
    /** SHA-256 of the key, in hexadecimal digits. */
    hash: text.regex(/^(sha256:)?[0-9a-f]{64}$/i, 'expected the SHA-256 of the key, 64 hexadecimal digits').optional(),
    scopes: z.array(z.enum(SCOPES)).min(1).default(['read', 'call']),
    /** The only servers its holder sees and calls; all of them when absent. */
    servers: z.array(text.min(1)).optional(),
  })
  .refine(({ key, hash }) => (key === undefined) !== (hash === undefined), 'expected either key or hash');

const HttpOauth = z.strictObject({
  issuer: z.url({ protocol: /^https?$/ }),
  /** What a token must be meant for. */
  audience: z.union([text.min(1), z.array(text.min(1)).min(1)]),
  /** Where the keys of the issuer are; found in its metadata when absent. */
  jwksUri: z.url({ protocol: /^https?$/ }).optional(),
  /** What stands before a scope in a token: `toolscout:` makes `toolscout:read` the scope `read`. */
  scopePrefix: text.default(''),
  /** The claim that lists the servers its holder may use; all of them when absent. */
  serversClaim: text.min(1).optional(),
  /** As what toolscout is known to the issuer; with it people sign in to Studio there (STUDIO-6). */
  clientId: text.min(1).optional(),
});

/** Who may connect over HTTP. Once it is set, requests without valid credentials are refused on every address. */
const HttpAuth = z.strictObject({
  keys: z.array(HttpKey).default([]),
  oauth: HttpOauth.optional(),
});
/** See the schema of the same name. */
export type HttpAuth = z.infer<typeof HttpAuth>;

const HttpConfig = z.strictObject({
  host: text.min(1).default('127.0.0.1'),
  port: z.int().min(0).max(65_535).default(7077),
  allowedHosts: z.array(text.min(1)).default([]),
  allowedOrigins: z.array(text.min(1)).default([]),
  /** The public address of this toolscout, when a proxy is in front of it. */
  publicUrl: z.url({ protocol: /^https?$/ }).optional(),
  auth: HttpAuth.optional(),
});

const LimitsConfig = z.strictObject({
  callTimeoutMs: milliseconds.default(30_000),
  /** The total time limit of one call, whatever progress it reports and whatever hosts are asked. */
  callTotalMs: milliseconds.default(3_600_000),
  connectTimeoutMs: milliseconds.default(30_000),
  idleTimeoutMs: milliseconds.default(300_000),
  healthIntervalMs: milliseconds.default(300_000),
  searchWaitMs: milliseconds.default(2000),
  breakerFailures: z.int().positive().default(5),
  breakerResetMs: milliseconds.default(30_000),
  auditRetentionMs: z
    .number()
    .positive()
    .default(90 * DAY_MS),
});

/** Scripts of agents, and what one may use (CODE-1, CODE-3). */
const ScriptsConfig = z.strictObject({
  /** Whether hosts are offered `run_script` beside the meta-tools; the mode `code` offers it in any case. */
  enabled: z.boolean().default(true),
  memoryBytes: z
    .int()
    .min(4 * 1024 * 1024)
    .max(1024 * 1024 * 1024)
    .default(64 * 1024 * 1024),
  computeMs: milliseconds.min(1).default(5000),
  timeoutMs: milliseconds.min(1).default(120_000),
  calls: z.int().positive().max(100_000).default(100),
  parallel: z.int().positive().max(256).default(8),
  /** Which tools a script may call: all that its caller may, or only those that change nothing. */
  allow: z.enum(['all', 'read-only']).default('all'),
});

/** The official public registry. */
export const OFFICIAL_REGISTRY = 'https://registry.modelcontextprotocol.io';

/** The registry that is searched for servers that are not configured yet (REG-9). */
const RegistryConfig = z.strictObject({
  /** The official one unless this says otherwise; one of your own speaks the same API. */
  url: z.url({ protocol: /^https?$/ }).default(OFFICIAL_REGISTRY),
  /** For how long an answer is good enough. */
  ttlMs: z
    .int()
    .min(0)
    .max(365 * DAY_MS)
    .default(3_600_000),
  /** Limit for one page. */
  timeoutMs: milliseconds.default(10_000),
  /** Pages of a hundred that one search reads at most. */
  maxPages: z.int().positive().max(100).default(10),
});

/** The whole validated configuration; every field has a value, and may stand inside `discovery` instead (CFG-2). */
export const Config = z.strictObject({
  enabled: z.boolean().default(true),
  timeoutMs: milliseconds.default(10_000),
  cache: z.union([z.boolean().transform((enabled) => ({ enabled, ttlMs: DAY_MS })), CacheConfig]).prefault({}),
  sources: z.array(SourceConfig).default([]),
  toolRules: z.array(RuleConfig).default([]),
  servers: z.record(z.string(), ServerEntry).default({}),
  /** A file with variables that only its owner may read; relative to the config. */
  envFile: text.min(1).optional(),
  mode: ModeName.default('meta'),
  /** Patterns of the tools that stand beside the meta-tools in the mode `hybrid`. */
  pinned: z.array(text.min(1)).default([]),
  /** Adds the meta-tool `query_tool`, which runs only tools that only read (META-10). */
  splitReads: z.boolean().default(false),
  /** The mode for hosts by the name they give, before the built-in table. */
  hostModes: z.record(z.string(), ModeName).default({}),
  /** Scripts that agents may run; `true` is short for `{}`. */
  scripts: z
    .union([z.boolean().transform((enabled) => ScriptsConfig.parse({ enabled })), ScriptsConfig])
    .prefault(false),
  introspectOutputSchemas: z.boolean().default(false),
  lazyOutputSchemas: z.boolean().default(true),
  introspectionInputs: z.record(z.string(), z.record(z.string(), z.json())).default({}),
  useCache: z.boolean().default(false),
  registerInMarketplace: z.boolean().default(false),
  exportToRtfs: z.boolean().default(false),
  exportDirectory: text.min(1).default('capabilities/servers/pending'),
  /** How optional entries are written in RTFS files (SCH-2). */
  rtfsDialect: z.enum(['standard', 'ccos']).default('standard'),
  authHeaders: textMap.default({}),
  retryPolicy: RetryConfig.prefault({}),
  /** Of every server; `remote`: remote servers have the default one, local servers have none (CONN-7). */
  rateLimit: z.union([UNLIMITED, z.literal('remote'), RateLimitConfig]).default('remote'),
  maxParallelDiscoveries: z.int().positive().max(256).default(5),
  /** Whether a server that takes long does not count toward the parallel limit, so that more run at once (DISC-3). */
  lendSlots: z.union([z.boolean(), z.literal('background')]).default('background'),
  ai: AiConfig.prefault({}),
  registry: RegistryConfig.prefault({}),
  skills: SkillsConfig.prefault({}),
  redaction: z.array(RedactionConfig).default([]),
  search: SearchConfig.prefault({}),
  usageMemory: z.union([z.boolean(), z.literal('local')]).default('local'),
  approval: z.enum(['trust-first', 'manual', 'off', 'lock']).default('trust-first'),
  /** The command that local servers are started through (A49). */
  sandbox: SandboxConfig.default(false),
  store: text.default('sqlite'),
  answers: AnswersConfig.prefault({}),
  screenResults: ScreenMode.default('off'),
  confirm: ConfirmConfig.prefault({}),
  audit: AuditConfig.prefault({}),
  traffic: TrafficConfig.prefault({}),
  overload: OverloadConfig.prefault({}),
  http: HttpConfig.prefault({}),
  limits: LimitsConfig.prefault({}),
});

/** See the schema of the same name. */
export type Config = z.infer<typeof Config>;

/** What a person writes: every field optional, any of them inside `discovery` instead; `$schema` is for editors. */
export type ConfigInput = z.input<typeof Config> & { $schema?: string; discovery?: z.input<typeof Config> };
