import * as z from 'zod';

/** The forms in which records leave toolscout: their own JSON, Common Event Format, Open Cybersecurity Schema Framework. */
export const AUDIT_FORMATS = ['jsonl', 'cef', 'ocsf'] as const;

/** One of {@link AUDIT_FORMATS}. */
export type AuditFormat = (typeof AUDIT_FORMATS)[number];

/** A portion of the log, one line a record. */
export interface AuditExport {
  readonly lines: readonly string[];
  /** Where the next portion begins. */
  readonly position: number;
  /** Whether the end of the log was reached. */
  readonly done: boolean;
}

/** Which portion is wanted. */
export interface AuditExportQuery {
  readonly format?: AuditFormat;
  /** Only records from this time on, in milliseconds since 1970. */
  readonly since?: number;
  /** The `position` of the portion before. */
  readonly after?: number;
  /** Records that are looked at, 1000 at most. */
  readonly limit?: number;
}

const format = z.enum(AUDIT_FORMATS);

const WebhookSink = z.strictObject({
  type: z.literal('webhook'),
  url: z.url({ protocol: /^https?$/ }),
  /** What signs the deliveries: a variable, so that it never stands in a file. */
  secret: z.string().regex(/^\$\{[^}]+\}$/, 'expected a variable such as ${AUDIT_SECRET}'),
  format: format.default('jsonl'),
});

const SyslogSink = z.strictObject({
  type: z.literal('syslog'),
  /** `tls://` and `tcp://` are delivered at least once; `udp://` may lose messages. */
  url: z.string().regex(/^(udp|tcp|tls):\/\/[^/@\s]+:\d{1,5}$/, 'expected udp://, tcp:// or tls:// with host and port'),
  format: format.default('cef'),
});

/** Where records are sent as they come; the key is the name under which the position is kept (SEC-12). */
export const AuditConfig = z.strictObject({
  export: z
    .record(
      z.string().regex(/^[\w.-]{1,64}$/, 'expected a name of 1 to 64 letters, digits, dots, hyphens or underscores'),
      z.discriminatedUnion('type', [WebhookSink, SyslogSink]),
    )
    .default({}),
});

/** See the schema of the same name. */
export type AuditConfig = z.infer<typeof AuditConfig>;

/** One place where records are sent. */
export type AuditSinkConfig = AuditConfig['export'][string];

type SinkOf<Type> = Extract<AuditSinkConfig, { readonly type: Type }>;

/** Which fields of a sink are secrets. A new kind of sink, or a new field of one, does not compile before it is here. */
const FIELDS: {
  readonly [Type in AuditSinkConfig['type']]: Readonly<
    Record<Exclude<keyof SinkOf<Type>, 'type' | 'url' | 'format'>, 'secret' | 'plain'>
  >;
} = {
  webhook: { secret: 'secret' },
  syslog: {},
};

/** A sink with each of its secrets replaced by what `change` makes of it. */
export function mapSinkSecrets(
  sink: AuditSinkConfig,
  change: (secret: string, field: string) => string,
): AuditSinkConfig {
  const kinds: Readonly<Record<string, 'secret' | 'plain'>> = FIELDS[sink.type];
  const entries = Object.entries(sink).map(([field, value]) => [
    field,
    kinds[field] === 'secret' && typeof value === 'string' ? change(value, field) : value,
  ]);
  return Object.fromEntries(entries) as AuditSinkConfig;
}
