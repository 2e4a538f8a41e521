import { isoTime } from './iso-time.js';
import type { JsonObject } from '../../kernel/json.js';
import { VERSION } from '../../kernel/version.js';
import type { AuditFormat } from '../../model/audit-export.js';
import type { AuditRecord } from '../../model/audit-record.js';

/** A record as one line of a format; what a caller wrote can never begin another line or field (A34). */
export function formatRecord(record: AuditRecord, format: AuditFormat): string {
  if (format === 'cef') return toCef(record);
  return oneLine(JSON.stringify(format === 'ocsf' ? toOcsf(record) : record));
}

/** JSON escapes every line break but those that only some readers take for one. */
function oneLine(json: string): string {
  return json.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029').replaceAll('\u0085', '\\u0085');
}

/** How bad an outcome is, from 0 to 10, in CEF. */
const CEF_SEVERITY: Readonly<Record<AuditRecord['outcome'], number>> = {
  success: 3,
  failure: 5,
  refused: 7,
  waiting: 4,
};

const inHeader = (text: string): string => text.replaceAll(/[\\|]/g, '\\$&').replaceAll(BREAKS, ' ');
// oxlint-disable-next-line no-control-regex
const BREAKS = /[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g;
const inExtension = (text: string): string =>
  text.replaceAll(/[\\=]/g, '\\$&').replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll(BREAKS, ' ');

function toCef(record: AuditRecord): string {
  const { id, time, kind, principal, route, server, tool, outcome, code, traceId } = record;
  const header = ['CEF:0', 'toolscout', 'toolscout', VERSION, kind, titleOf(record)].map((part, at) =>
    at === 0 ? part : inHeader(part),
  );
  const fields: ReadonlyArray<readonly [string, string | number | undefined]> = [
    ['rt', Math.trunc(time)],
    ['externalId', id],
    ['suser', principal],
    ['act', kind],
    ['outcome', outcome],
    ['reason', code],
    ['app', route],
    ['cs1Label', server === undefined ? undefined : 'server'],
    ['cs1', server],
    ['cs2Label', tool === undefined ? undefined : 'tool'],
    ['cs2', tool],
    ['cs3Label', record.argumentsHash === undefined ? undefined : 'argumentsHash'],
    ['cs3', record.argumentsHash],
    ['cs4Label', traceId === undefined ? undefined : 'traceId'],
    ['cs4', traceId],
    ['cs5Label', record.message === undefined ? undefined : 'message'],
    ['cs5', record.message],
    ['cn1Label', record.latencyMs === undefined ? undefined : 'latencyMs'],
    ['cn1', record.latencyMs === undefined ? undefined : Math.round(record.latencyMs)],
    ['cn2Label', record.askedMs === undefined ? undefined : 'askedMs'],
    ['cn2', record.askedMs === undefined ? undefined : Math.round(record.askedMs)],
    ['out', record.resultBytes],
    ['msg', record.arguments === undefined ? undefined : JSON.stringify(record.arguments)],
  ];
  const extension = fields
    .filter((field): field is readonly [string, string | number] => field[1] !== undefined)
    .map(([key, value]) => `${key}=${inExtension(String(value))}`);
  return `${header.join('|')}|${CEF_SEVERITY[outcome] ?? CEF_SEVERITY.failure}|${extension.join(' ')}`;
}

function titleOf({ kind, server, tool }: AuditRecord): string {
  const address = [server, tool].filter((part) => part !== undefined).join(':');
  return address === '' ? kind : `${kind} ${address}`;
}

/** The version of the schema that records are mapped to. */
const OCSF_VERSION = '1.3.0';
/** The class "API Activity" of the category "Application Activity". */
const API_ACTIVITY = 6003;
/** The activity "Other": what a tool does cannot be known. */
const OTHER = 99;

function toOcsf(record: AuditRecord): JsonObject {
  const { id, time, kind, principal, route, server, tool, outcome, code, traceId } = record;
  return {
    category_uid: 6,
    category_name: 'Application Activity',
    class_uid: API_ACTIVITY,
    class_name: 'API Activity',
    activity_id: OTHER,
    activity_name: kind,
    type_uid: API_ACTIVITY * 100 + OTHER,
    type_name: 'API Activity: Other',
    severity_id: outcome === 'success' ? 1 : outcome === 'failure' ? 2 : 3,
    severity: outcome === 'success' ? 'Informational' : outcome === 'failure' ? 'Low' : 'Medium',
    status_id: outcome === 'success' ? 1 : 2,
    status: outcome === 'success' ? 'Success' : 'Failure',
    ...(code !== undefined && { status_code: code }),
    ...(record.message !== undefined && { status_detail: record.message }),
    time: Math.trunc(time),
    time_dt: isoTime(time),
    message: titleOf(record),
    metadata: {
      version: OCSF_VERSION,
      uid: id,
      ...(traceId !== undefined && { correlation_uid: traceId }),
      product: { name: 'toolscout', vendor_name: 'toolscout', version: VERSION },
    },
    actor: { user: { name: principal, type_id: 0 } },
    api: {
      operation: tool ?? kind,
      ...(server !== undefined && { service: { name: server } }),
      request: { uid: traceId ?? id },
    },
    src_endpoint: { name: route ?? 'local' },
    ...(record.latencyMs !== undefined && { duration: Math.round(record.latencyMs) }),
    unmapped: JSON.parse(JSON.stringify(record)) as JsonObject,
  };
}
