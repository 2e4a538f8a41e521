import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../../test/support/any-text.js';
import { AUDIT_FORMATS } from '../../model/audit-export.js';
import type { AuditRecord } from '../../model/audit-record.js';
import { syslogMessage } from '../sinks/syslog.js';
import { formatRecord } from './formats.js';

const whole: AuditRecord = {
  id: 'r1',
  time: 1_700_000_000_000.5,
  kind: 'execution',
  principal: 'ada',
  route: 'mcp',
  server: 'github',
  tool: 'list_issues',
  arguments: { owner: 'a=b|c\\d' },
  argumentsHash: 'ff',
  outcome: 'refused',
  code: 'TOOL_DISABLED',
  message: 'It is off.\nCEF:0|evil',
  latencyMs: 1.6,
  askedMs: 1.2,
  resultBytes: 10,
  traceId: 't1',
};

describe('formats of records', () => {
  it('SEC-12 jsonl is the record itself', () => {
    expect(JSON.parse(formatRecord(whole, 'jsonl'))).toEqual(whole);
  });

  it('SEC-12 CEF has a header of seven fields and escapes what would end one', () => {
    const line = formatRecord({ ...whole, kind: 'a|b', server: 'x=y\r\nCEF:0|evil' }, 'cef');
    expect(line).toMatch(
      /^CEF:0\|toolscout\|toolscout\|[\d.]+[^|]*\|a\\\|b\|a\\\|b x=y CEF:0\\\|evil:list_issues\|7\|/,
    );
    expect(line).toContain('rt=1700000000000 externalId=r1 suser=ada');
    expect(line).toContain('cs1Label=server cs1=x\\=y\\r\\nCEF:0|evil');
    expect(line).toContain('reason=TOOL_DISABLED');
    expect(line).toContain('cs5Label=message cs5=It is off.\\nCEF:0|evil');
    expect(line).toContain('cn1Label=latencyMs cn1=2 cn2Label=askedMs cn2=1 out=10');
    expect(line).toContain(String.raw`msg={"owner":"a\=b|c\\\\d"}`);
    const bare = formatRecord({ id: 'r', time: 0, kind: 'reload', principal: 'p', outcome: 'success' }, 'cef');
    expect(bare).toMatch(/\|reload\|reload\|3\|rt=0 externalId=r suser=p act=reload outcome=success$/);
  });

  it('SEC-12 OCSF is an API activity with what the class requires', () => {
    const event = JSON.parse(formatRecord(whole, 'ocsf')) as Record<string, unknown>;
    expect(event).toMatchObject({
      category_uid: 6,
      class_uid: 6003,
      activity_id: 99,
      type_uid: 600_399,
      severity_id: 3,
      status_id: 2,
      status_code: 'TOOL_DISABLED',
      status_detail: 'It is off.\nCEF:0|evil',
      time: 1_700_000_000_000,
      metadata: { version: '1.3.0', uid: 'r1', product: { name: 'toolscout' } },
      actor: { user: { name: 'ada' } },
      api: { operation: 'list_issues', service: { name: 'github' }, request: { uid: 't1' } },
      src_endpoint: { name: 'mcp' },
    });
    const acts = (['success', 'failure'] as const).map(
      (outcome) =>
        JSON.parse(
          formatRecord({ id: 'r', time: Number.NaN, kind: 'reload', principal: 'p', outcome }, 'ocsf'),
        ) as object,
    );
    expect(acts).toMatchObject([
      { severity_id: 1, status_id: 1, api: { operation: 'reload' }, src_endpoint: { name: 'local' } },
      { severity_id: 2, status_id: 2, time_dt: '1970-01-01T00:00:00.000Z' },
    ]);
  });

  it('SEC-12 A34 whatever a caller wrote, a record is one line without control characters, in every format', () => {
    fc.assert(
      fc.property(anyText(), anyText(), anyText(), fc.constantFrom(...AUDIT_FORMATS), (kind, server, text, format) => {
        const record = { ...whole, kind, server, tool: text, arguments: { [text]: text }, principal: text };
        for (const line of [formatRecord(record, format), syslogMessage(record, format, text)]) {
          // oxlint-disable-next-line no-control-regex
          expect(line).not.toMatch(/[\u0000-\u001f\u0085\u2028\u2029]/);
        }
      }),
    );
  });

  it('SEC-12 a message of syslog has the header of RFC 5424', () => {
    expect(syslogMessage(whole, 'cef', 'host 1')).toMatch(
      /^<108>1 2023-11-14T22:13:20\.000Z host1 toolscout - execution - \uFEFFCEF:0\|/,
    );
    const other = { ...whole, outcome: 'unheard' as never, kind: 'ü' };
    expect(syslogMessage(other, 'jsonl', '')).toMatch(/^<108>1 \S+ - toolscout - - - /);
    expect(formatRecord(other, 'cef')).toContain('|5|');
  });
});
