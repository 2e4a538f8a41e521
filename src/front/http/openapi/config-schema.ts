import * as z from 'zod';
import {
  AnswersConfig,
  ModeName,
  RateLimitConfig,
  RedactionConfig,
  RetryConfig,
  RuleConfig,
  ScreenMode,
  ServerAnswers,
  SourceConfig,
} from '../../../model/config.js';
import { OverloadConfig } from '../../../model/overload-config.js';
import { SearchConfig } from '../../../model/search-config.js';
import { SandboxConfig } from '../../../model/sandbox-config.js';
import { SCOPES } from '../../../model/principal.js';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const RateLimit = z.union([z.literal(false), RateLimitConfig]);
const numbers = z.record(text, z.number());

const ShownServer = z.object({
  id: text,
  title: text.optional(),
  description: text.optional(),
  type: z.enum(['stdio', 'http', 'sse']),
  target: text.meta({ description: 'Command or URL, as written, credentials masked.' }),
  secrets: texts.meta({ description: 'Names of variables or headers.' }),
  cwd: text.optional(),
  auth: texts.meta({ description: 'What is given for signing in, names only.' }).optional(),
  enabled: z.boolean(),
  problem: text.optional(),
  tags: texts,
  capabilities: texts.optional(),
  eager: z.boolean(),
  autoApprove: texts.optional(),
  timeoutMs: count,
  totalTimeoutMs: count,
  toolTimeoutsMs: numbers,
  connectTimeoutMs: count,
  idleTimeoutMs: count,
  answers: ServerAnswers.optional(),
  screenResults: ScreenMode.optional(),
  rateLimit: RateLimit,
  retry: RetryConfig,
});

const ShownHttp = z.object({
  host: text,
  port: count,
  allowedHosts: texts,
  allowedOrigins: texts,
  publicUrl: text.optional(),
  auth: z
    .object({
      keys: z.array(z.object({ name: text, scopes: z.array(z.enum(SCOPES)), servers: texts.optional() })),
      oauth: z
        .object({
          issuer: text,
          audience: z.union([text, texts]),
          jwksUri: text.optional(),
          scopePrefix: text,
          serversClaim: text.optional(),
          clientId: text.optional(),
        })
        .optional(),
    })
    .optional(),
});

/** Every field of the config as it may be shown: what may hold a secret is masked, or only named. */
export const ShownConfig = z.object({
  source: text,
  confirm: z.object({
    elicit: z.boolean(),
    pendingMs: count,
    webhook: text.optional(),
    timeoutMs: count,
    secretSet: z.boolean(),
  }),
  enabled: z.boolean(),
  timeoutMs: count,
  cache: z.object({ enabled: z.boolean(), ttlMs: count }),
  sources: z.array(SourceConfig),
  toolRules: z.array(RuleConfig),
  servers: z.array(ShownServer),
  mode: ModeName,
  pinned: texts,
  splitReads: z.boolean(),
  scripts: z.object({
    enabled: z.boolean(),
    memoryBytes: z.int(),
    computeMs: z.int(),
    timeoutMs: z.int(),
    calls: z.int(),
    parallel: z.int(),
    allow: z.enum(['all', 'read-only']),
  }),
  hostModes: z.record(text, ModeName),
  introspectOutputSchemas: z.boolean(),
  lazyOutputSchemas: z.boolean(),
  introspectionInputs: texts.meta({ description: 'The tools for which there are inputs.' }),
  envFile: text.optional(),
  useCache: z.boolean(),
  registerInMarketplace: z.boolean(),
  exportToRtfs: z.boolean(),
  exportDirectory: text,
  rtfsDialect: text,
  authHeaders: texts.meta({ description: 'Names only.' }),
  retryPolicy: RetryConfig,
  rateLimit: z.union([RateLimit, z.literal('remote')]),
  maxParallelDiscoveries: count,
  lendSlots: z.union([z.boolean(), z.literal('background')]),
  ai: z.object({
    enabled: z.boolean(),
    baseUrl: text,
    apiKeySet: z.boolean(),
    model: text,
    fallbackToAi: z.boolean(),
    cache: z.boolean(),
  }),
  registry: z.object({ url: text, ttlMs: count, timeoutMs: count, maxPages: count }),
  skills: z.object({ directories: texts }),
  search: SearchConfig,
  redaction: z.array(RedactionConfig.extend({ match: texts })),
  usageMemory: z.union([z.boolean(), z.literal('local')]),
  approval: z.enum(['trust-first', 'manual', 'off', 'lock']),
  sandbox: SandboxConfig,
  store: text,
  answers: AnswersConfig,
  screenResults: ScreenMode,
  audit: z.object({
    export: z.record(text, z.object({ type: text, url: text, format: text, secret: text.optional() })),
  }),
  traffic: z.object({ keep: z.int() }),
  overload: OverloadConfig,
  http: ShownHttp,
  limits: numbers,
  warnings: z.array(z.object({ path: text, message: text })),
});
