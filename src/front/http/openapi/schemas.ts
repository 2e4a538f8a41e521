import * as z from 'zod';
import { AnyObject } from './any-object.js';
import { serverDetails } from './server-details-schema.js';
import { ERROR_TABLE, type ErrorCode } from '../../../kernel/errors.js';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);

/** A message of JSON-RPC, as MCP defines them. */
export const RpcMessage = z.looseObject({ jsonrpc: z.literal('2.0') });

/** A refusal of JSON-RPC. */
export const RpcFailure = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([text, z.number(), z.null()]).optional(),
  error: z.looseObject({ code: z.int(), message: text }),
});

const ProblemItem = z.object({ path: text, message: text });

/** Every failure (RFC 9457). */
export const Problem = z.object({
  type: text.regex(/^urn:toolscout:problem:[a-z_]+$/),
  title: text,
  status: z.int().min(400).max(599),
  detail: text,
  code: z.enum(Object.keys(ERROR_TABLE) as [ErrorCode, ...ErrorCode[]]),
  suggestion: text,
  severity: z.enum(['WARNING', 'SEVERE']),
  trace_id: text,
  retry_after_ms: z.number().optional(),
  problems: z.array(ProblemItem).optional(),
  server: text.optional(),
  tool: text.optional(),
  error_code: text.meta({ description: 'What the server itself calls the failure.' }).optional(),
  delivered: z
    .union([z.literal(false), z.literal('unknown')])
    .meta({
      description: 'Whether a call without an answer reached the server: `unknown` when it may have taken effect.',
    })
    .optional(),
  result: AnyObject.optional(),
});

const SnapshotItem = z.object({
  id: text,
  name: text,
  version: text.nullable(),
  base_url: text.nullable(),
  transport: z.enum(['stdio', 'http', 'sse']),
  alive: z.boolean(),
  latency_ms: z.number().nullable(),
  capabilities: texts,
  tags: texts,
  last_checked_ts: text.nullable(),
  failure_reason: text.nullable(),
  consecutive_failures: count,
});

/** All servers and their health (REG-1). */
export const Snapshot = z.object({
  registry_hash: text.regex(/^sha256-/),
  generated_at: text,
  items: z.array(SnapshotItem),
});

const ShownTransport = z.object({
  type: z.enum(['stdio', 'http', 'sse']),
  target: text.meta({ description: 'Command or URL; only for the scope `admin`.' }).optional(),
  secrets: texts.meta({ description: 'Names of variables or headers; only for the scope `admin`.' }).optional(),
});

const ServerHealth = z.object({
  state: z.enum(['connected', 'disconnected', 'error']),
  breaker: z.enum(['closed', 'open', 'half-open']),
  era: z.enum(['legacy', 'modern']).optional(),
  protocolVersion: text.optional(),
  pid: z.int().optional(),
  since: z.number(),
  latencyMs: z.number().optional(),
  lastError: text.optional(),
  noise: count.optional(),
});

/** One server as people see it. */
export const ServerView = z.object({
  id: text,
  title: text.optional(),
  description: text.meta({ description: 'What it is for, on one line.' }).optional(),
  descriptionFrom: z
    .literal('tools')
    .optional()
    .meta({ description: 'The server says nothing of itself: `description` is made of the names of its tools.' }),
  source: text,
  transport: ShownTransport,
  tags: texts,
  enabled: z.boolean(),
  knowledge: z.enum(['ready', 'stale', 'learning', 'failed', 'unknown', 'off']),
  problem: text.optional(),
  tools: count,
  disabledTools: count,
  droppedTools: count,
  learnedAt: z.number().optional(),
  failure: z.object({ at: z.number(), reason: text }).optional(),
  health: ServerHealth,
});

/** One server whole. */
export const ServerDetails = ServerView.extend(serverDetails);

/** All servers. */
export const ServerList = z.object({ servers: z.array(ServerView) });

const status = z.enum(['enabled', 'disabled', 'pending', 'quarantined']);
const provenance = z.enum(['protocol', 'parsed', 'guessed', 'declared', 'predicted']);

const Confirm = z
  .object({
    asks: z.enum(['always', 'once', 'when']).meta({
      description: 'Each call, the first of each caller, or those whose arguments fit `when`.',
    }),
    when: text.optional().meta({ description: 'The JMESPath expression.' }),
    rule: text.meta({ description: 'The rule, as one phrase.' }),
  })
  .optional()
  .meta({ description: "Calls need a person's yes before they are sent; absent where they do not." });

const ToolSummary = z.object({
  tool: text,
  title: text.optional(),
  summary: text,
  tags: texts,
  status,
  autoApproved: z.boolean().optional(),
  callable: z.boolean().meta({ description: 'Whether it can be run now.' }),
  confirm: Confirm,
  provenance,
  rung: text.optional().meta({ description: 'The fallback by which it was found; absent for what the server listed.' }),
  confidence: z.number().optional(),
});

/** The tools of one server. */
export const ToolList = z.object({ server: text, tools: z.array(ToolSummary) });

const Parameter = z.object({
  name: text,
  type: text,
  required: z.boolean(),
  description: text,
  values: texts.optional(),
});

/** Everything about one tool. */
export const ToolDetails = z.object({
  server: text,
  tool: text,
  title: text.optional(),
  description: text,
  summary: text,
  parameters: z.array(Parameter),
  domains: texts,
  categories: texts,
  tags: texts,
  status,
  autoApproved: z.boolean().optional(),
  callable: z.boolean(),
  confirm: Confirm,
  provenance,
  rung: text.optional(),
  confidence: z.number().optional(),
  destructive: z
    .boolean()
    .optional()
    .meta({ description: 'The server says that it may delete or overwrite something.' }),
  readOnly: z
    .boolean()
    .optional()
    .meta({ description: 'What the server says of `readOnlyHint`; absent where it says nothing.' }),
  hash: text,
  /** As the server defines it, without what an agent does not need. */
  definition: AnyObject,
});

/** Why a tool is or is not offered (FIND-5). */
export const Why = z.object({
  address: text,
  offered: z.boolean(),
  because: z.enum([
    'none',
    'server',
    'connection',
    'unknown-tool',
    'malformed',
    'rule',
    'approval',
    'quarantine',
    'rejected',
    'provenance',
    'scope',
  ]),
  reason: text,
  suggestion: text.optional(),
  repairs: texts.readonly().optional(),
});

const Explanation = z.object({
  terms: z.array(z.object({ word: text, term: text, fields: texts, share: z.number() })),
  signals: z.array(z.object({ name: text, share: z.number() })),
});

const Hit = z.object({
  server: text,
  tool: text,
  summary: text,
  relevance: z.number().min(0).max(1),
  tags: texts,
  need: text.optional(),
  confirm: Confirm,
  signature: text.optional(),
  explanation: Explanation.optional(),
});

/** What a search found, and what it could not look at. */
export const SearchAnswer = z.object({
  hits: z.array(Hit),
  nearest: texts,
  learning: texts,
  unavailable: z.array(z.object({ server: text, reason: text })),
});

/** A call that succeeded; what failed is a problem. */
export const CallAnswer = z.object({
  success: z.literal(true),
  result: AnyObject,
  withheld: z.number().optional().meta({ description: 'About how many tokens of the result were left out.' }),
  askedMs: z.number().optional().meta({ description: 'How long a person or the host was asked something meanwhile.' }),
});

/** A script that is to be run. */
export const ScriptBody = z.strictObject({
  script: text.min(1),
  timeout_ms: z.int().min(1).max(86_400_000).optional(),
});

/** A script that succeeded; what failed is a problem. */
export const ScriptAnswer = z.object({
  success: z.literal(true),
  value: z.unknown().optional(),
  printed: texts,
  calls: count,
});

/** A script that failed: where, what it printed until then, and the failed call that it did not catch. */
export const ScriptProblem = Problem.extend({
  line: count.optional(),
  column: count.optional(),
  source: text.optional(),
  call: AnyObject.optional(),
  printed: texts,
  calls: count,
});

/** Server-sent events. */
export const Events = text;

export { ShownConfig } from './config-schema.js';
export { AuditPage, AuditPortion, AuditRecord, AuditVerification } from './audit-schemas.js';
export { Stats } from './stats-schema.js';

/** What a reload changed. */
export const ReloadReport = z.object({
  changed: z.boolean(),
  added: texts,
  removed: texts,
  reconnected: texts,
  unchanged: count,
  needsRestart: texts,
});

/** That it lives. */
export const Health = z.object({
  status: z.enum(['ok', 'overloaded', 'degraded']),
  version: text.meta({ description: 'Absent under a Host that is not allowed.' }).optional(),
  store: z
    .object({ writable: z.boolean(), accepted: z.boolean(), problem: text.optional() })
    .optional()
    .meta({ description: 'Absent when all is well.' }),
});

/** What was in doubt before the store was accepted. */
export const StoreAccepted = z.object({
  accepted: z.enum(['vanished', 'replaced', 'rolled-back', 'damaged', 'unfinished']).nullable(),
});

/** How much of what is configured is known. */
export const Ready = z.object({
  status: z.enum(['ready', 'learning', 'degraded', 'store-unaccepted']),
  servers: count.meta({ description: 'Absent, like the other numbers, under a Host that is not allowed.' }).optional(),
  known: count.optional(),
  learning: count.optional(),
  failed: count.optional(),
});

/** Prometheus text. */
export const Metrics = text;

/** One server as the official registry describes it. */
export const RegistryEntry = z.object({
  server: z.object({
    $schema: text,
    name: text.regex(/^[a-zA-Z0-9.-]+\/.+$/),
    title: text,
    description: text,
    version: text,
    remotes: z.array(z.object({ type: z.literal('streamable-http'), url: text })),
  }),
  _meta: AnyObject,
});

/** A page of servers as the official registry gives it. */
export const RegistryPage = z.object({
  servers: z.array(RegistryEntry),
  metadata: z.object({ count, nextCursor: text.optional() }),
});

export { SkillBindings, SkillCall, SkillList } from './skill-schemas.js';
export {
  Approval,
  ApprovalDiffs,
  ApprovalList,
  Introspection,
  IntrospectionRequest,
  ProposedServer,
  RulingReport,
  RulingRequest,
} from './approval-schemas.js';
export { CallRuling, PendingCall, PendingCallList } from './pending-call-schemas.js';

export { AnyObject };
export * from './call-schemas.js';
export * from './config-change-schemas.js';
export * from './studio-schemas.js';

/** Approved manifests. */
export const ManifestList = z.object({ manifests: z.array(AnyObject) });
