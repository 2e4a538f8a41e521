import type * as z from 'zod';
import type * as Schemas from '../../src/front/http/openapi/schemas.js';
import type { serverDetails } from '../../src/front/http/openapi/server-details-schema.js';
import type * as Changes from '../../src/front/http/openapi/config-change-schemas.js';
import type * as Studio from '../../src/front/http/openapi/studio-schemas.js';

/** What the API answers, by the schemas that its document is made from. */
type Answer<Name extends keyof typeof Schemas> = z.infer<(typeof Schemas)[Name]>;

/** Any JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** One server in the list of servers. */
export type ServerView = Answer<'ServerView'>;
/** One tool in the list of a server. */
export type ToolSummary = Answer<'ToolList'>['tools'][number];
/** Everything about one tool. */
export type ToolDetails = Answer<'ToolDetails'>;
/** What a search found. */
export type SearchAnswer = Answer<'SearchAnswer'>;
/** One hit of a search. */
export type Hit = SearchAnswer['hits'][number];
/** Why a tool is or is not offered. */
export type Why = Answer<'Why'>;
/** A request to trust something, or what was decided about it. */
export type Approval = Answer<'Approval'>;
/** What one request would change. */
export type ApprovalDiff = Answer<'ApprovalDiffs'>['diffs'][number];
/** A question in the middle of a call. */
export type Ask = Answer<'AskList'>['asks'][number];
/** A call that waits for confirmation, or the decision about it. */
export type PendingCall = Answer<'PendingCall'>;
/** What became of a decision. */
export type RulingReport = Answer<'RulingReport'>;
/** A skill and how it stands. */
export type Skill = Answer<'SkillList'>['skills'][number];
/** One record of the audit log. */
export type AuditRecord = Answer<'AuditPage'>['records'][number];
/** What a record can be about. */
export type { AuditKind } from '../../src/model/audit-record.js';
/** The config that is in force. */
export type ShownConfig = Answer<'ShownConfig'>;
/** What a reload changed. */
export type ReloadReport = Answer<'ReloadReport'>;
/** Sums of the audit log. */
export type Stats = Answer<'Stats'>;
/** What Home shows. */
export type Overview = z.infer<typeof Studio.Overview>;
/** What an agent gets for a search, and what it pays. */
export type SearchPreview = z.infer<typeof Studio.SearchPreview>;
/** Tools that agents do not get. */
export type HeldTools = z.infer<typeof Studio.HeldTools>;
/** Something that needs attention. */
export type Attention = Overview['attention'][number];
/** Who the page speaks for. */
export type SessionState = z.infer<typeof Studio.SessionState>;
/** One server whole. */
export type ServerDetails = ServerView & { [Key in keyof typeof serverDetails]: z.infer<(typeof serverDetails)[Key]> };
/** The config file, credentials replaced by placeholders. */
export type ConfigFile = z.infer<typeof Changes.ConfigFile>;
/** A change of the config file. */
export type ConfigChange = z.input<typeof Changes.ConfigPlanRequest>['change'];
/** What a change would do. */
export type ConfigPlan = z.infer<typeof Changes.ConfigPlan>;
/** A change that was written. */
export type ConfigApplied = z.infer<typeof Changes.ConfigApplied>;
/** What an import would do. */
export type ImportPlan = z.infer<typeof Changes.ImportPlan>;
/** What rules would turn on and off. */
export type RulesPreview = z.infer<typeof Changes.RulesPreview>;
/** Servers of the public registry. */
export type RegistryFindings = z.infer<typeof Changes.RegistryFindings>;
/** One rule of the config. */
export type { RuleConfig } from '../../src/model/config.js';
/** One request of a host, and what it led to; a message of it. */
export type { Payload as TrafficPayload, TrafficRow } from '../../src/model/traffic.js';
/** A failure as the API describes it. */
export type Problem = Answer<'Problem'>;
