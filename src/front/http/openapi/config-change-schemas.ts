import * as z from 'zod';
import { RuleConfig, SOURCE_TYPES } from '../../../model/config.js';
import { AnyObject as anyObject } from './any-object.js';

const text = z.string();
const texts = z.array(text);
const count = z.int().min(0);
const Issue = z.object({
  path: text,
  message: text,
  line: count.optional().meta({ description: 'The line of the file that it is about, counted from 1.' }),
});
const hash = text.regex(/^[0-9a-f]{64}$/);

/** Characters of a config file; more is nothing that is read. */
const MAX_FILE = 1024 * 1024;

/** The config file; placeholders stand for credentials. */
export const ConfigFile = z.object({
  path: text.optional(),
  exists: z.boolean(),
  isGone: z.literal(true).optional().meta({
    description: 'The config file does not exist any more; its last content stays in force.',
  }),
  text,
  servers: z.record(text, anyObject).meta({ description: 'The servers of the file, as they are written.' }),
  problem: text.optional().meta({ description: 'Why it cannot be read as a config, or not be changed.' }),
  rejected: z
    .array(Issue)
    .optional()
    .meta({ description: 'Why its present content is not used; the previous config stays in force.' }),
  warnings: z.array(Issue).optional().meta({ description: 'What may be wrong with the config in force.' }),
});

const Change = z.union([
  z.strictObject({
    servers: z
      .record(text.min(1).max(500), z.union([anyObject, z.null()]))
      .meta({ description: 'Servers that are added, changed or, with `null`, removed.' }),
    allowSecrets: z.boolean().optional().meta({ description: 'Whether credentials may be written in clear.' }),
  }),
  z.strictObject({ toolRules: z.array(anyObject).max(10_000).meta({ description: 'All rules, in their order.' }) }),
  z.strictObject({
    text: text.max(MAX_FILE).meta({ description: 'The whole file; placeholders stand for credentials.' }),
    allowSecrets: z.boolean().optional(),
  }),
]);

/** A change of the config file. */
export const ConfigPlanRequest = z.strictObject({ change: Change });

/** A change that was planned, with the hash of the plan. */
export const ConfigApplyRequest = z.strictObject({ change: Change, plan: hash });

const Command = z.object({ server: text, type: z.enum(['stdio', 'http', 'sse']), target: text, secrets: texts });

const planFields = {
  file: text,
  before: text,
  after: text,
  diff: z.array(z.object({ kind: z.enum(['same', 'removed', 'added']), text })),
  problems: z.array(Issue).meta({ description: 'What keeps it from being applied.' }),
  warnings: z.array(Issue),
  commands: z
    .array(Command)
    .meta({ description: 'Exact commands that would be run and URLs that would be reached, and are not now.' }),
  plan: hash,
};

/** What a change would do. */
export const ConfigPlan = z.object(planFields);

const ReloadCounts = z.looseObject({});

/** A change that was written. */
export const ConfigApplied = z.object({
  file: text,
  backup: text.optional(),
  report: ReloadCounts.optional().meta({ description: 'What the reload changed.' }),
  problem: text.optional().meta({ description: 'Why the config was written and could not be taken over.' }),
});

const client = z.enum(SOURCE_TYPES);
const importFields = {
  sources: z.array(client).default([]).meta({ description: 'Clients; all of them when empty.' }),
  servers: z.array(text.min(1).max(500)).max(10_000).optional(),
  credentials: z.boolean().optional().meta({ description: 'Take credentials along, into the file with secrets.' }),
};

/** What is imported; without `plan` nothing is written. */
export const ImportRequest = z.strictObject({ ...importFields, plan: hash.optional() });

const ImportRow = z.looseObject({
  server: text,
  transport: z.looseObject({ type: text, target: text }),
  scope: z.enum(['user', 'project']),
  enabled: z.boolean(),
  file: text,
  status: z.enum(['new', 'present', 'same', 'name-taken']),
  how: z.enum(['copy', 'reference']),
  notes: texts,
});

/** What an import would do. */
export const ImportPlan = z.object({
  ...planFields,
  clients: z.array(
    z.object({
      client: text,
      title: text,
      files: texts,
      servers: z.array(ImportRow),
      unreadable: texts,
      problems: z.array(Issue),
    }),
  ),
  additions: count,
  paste: text.optional(),
});

/** An import that was planned, or one that was written. */
export const ImportAnswer = z.union([ImportPlan, ConfigApplied]);

/** Rules to look at. */
export const RulesPreviewRequest = z.strictObject({
  toolRules: z.array(RuleConfig).max(1000),
  except: text.max(1500).optional().meta({
    description:
      'A tool as `server:tool`: the rules are so changed that it is offered and every other tool stays as it is. `rules` of the answer has them.',
  }),
});

const Effect = z.object({ count, tools: texts.meta({ description: 'The first of them.' }) });
const Waiting = Effect.meta({
  description:
    'Those that wait for approval: agents do not get them, whatever a rule says. They are counted here alone.',
});

/** What rules would turn on and off. */
export const RulesPreview = z.object({
  rules: z.array(
    z.object({
      rule: RuleConfig,
      enables: Effect,
      disables: Effect,
      tags: Effect,
      confirms: Effect.meta({ description: 'Offered tools whose calls a person confirms because of it.' }),
      waiting: Waiting,
    }),
  ),
  undecided: Effect.extend({ enabled: z.boolean(), waiting: Waiting }),
  changed: z
    .object({ on: Effect, off: Effect, waiting: Waiting })
    .meta({ description: 'Compared with the rules in force.' }),
  warnings: z.array(Issue),
});

const Input = z.looseObject({ key: text, where: text, required: z.boolean(), secret: z.boolean() });

const Launch = z.union([
  z.object({
    way: text,
    ok: z.literal(true),
    entry: anyObject.meta({ description: 'What would stand in the config.' }),
    inputs: z.array(Input),
    missing: texts,
    problems: texts,
    variables: texts,
    shown: text.meta({ description: 'The exact command, or the URL.' }),
  }),
  z.object({ way: text, ok: z.literal(false), reason: text }),
]);

const Candidate = z.object({
  name: text,
  title: text.optional(),
  description: text,
  version: text,
  status: z.enum(['active', 'deprecated']),
  state: z.enum(['configured', 'pending']),
  server: text.optional(),
  launch: Launch,
});

/** Servers of the registry. */
export const RegistryFindings = z.object({
  servers: z.array(Candidate),
  truncated: z.boolean(),
  dropped: count,
  learnedAt: z.number(),
  stale: text.optional(),
});

/** One server of the registry on its way into the config. */
export const RegistryPlan = z.object({ candidate: Candidate, id: text, ways: z.array(Launch) });
