import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { AuditRecord, Json } from '../../api/types.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo, type Route } from '../../app/router.js';
import { DetailsBox, showDetails } from '../../parts/details-box.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Facts, Page, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Empty, Loaded, OutcomeBadge } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import {
  countText,
  emptyText,
  endedText,
  KINDS,
  OUTCOMES,
  recordWord,
  serverOptions,
  SINCE,
  sinceTime,
  storedOutcome,
  titleOf,
  withOutcome,
} from './audit-words.js';
import { reasonOf } from '../../text/advice.js';
import { codeText, hasTool, placeOfCode } from '../../text/code-words.js';
import { routeWord } from '../../text/route-word.js';
import { formatBytes, formatDateTime, formatDuration, plural } from '../../text/format.js';
import { askedText, bySlowest, spentText, workedText } from '../../text/took.js';
import { COUNTED, tokensText } from '../../text/token-words.js';
import { whoOf } from '../../text/who.js';

const LIMIT = 500;

function Details({ record }: { readonly record: AuditRecord }): VNode {
  const tokens = tokensText(record);
  const asked = askedText(record.askedMs);
  const spent = record.kind === 'execution' ? spentText(record) : undefined;
  const place = placeOfCode(record.code, record.server, record.tool);
  return (
    <Section title="Record" aside={<OutcomeBadge outcome={record.outcome} code={record.code} />}>
      <div class="stack">
        <Facts
          items={[
            ...(record.latencyMs === undefined
              ? [['When', formatDateTime(record.time)] as const]
              : [
                  ['Began', formatDateTime(record.time - record.latencyMs)] as const,
                  ['Ended', formatDateTime(record.time)] as const,
                ]),
            ['Kind', recordWord(record)],
            record.server !== undefined && ['What', <ServerLine text={titleOf(record)} />],
            ['Who', <ServerLine text={whoOf(record)} />],
            record.route !== undefined && ['Through', routeWord(record.route)],
            record.skill !== undefined && ['Skill', record.skill],
            record.message !== undefined && ['Message', <ServerText text={reasonOf(record.message)} />],
            record.code !== undefined && [
              'Why',
              <>
                {codeText(record.code)} <code class="muted">{record.code}</code>
              </>,
            ],
            record.latencyMs !== undefined && [
              'Took',
              <>
                {workedText(record.latencyMs, record.askedMs)}
                {spent !== undefined && <span class="muted">, {spent}</span>}
              </>,
            ],
            asked !== undefined && ['Asked', `${asked}, not counted above`],
            record.waitedMs !== undefined && ['Waited', `${formatDuration(record.waitedMs)} for the rate limit`],
            tokens !== undefined && ['Tokens', tokens],
            record.resultBytes !== undefined && ['Result', formatBytes(record.resultBytes)],
            record.traceId !== undefined && ['Trace', <code>{record.traceId}</code>],
          ]}
        />
        {record.arguments !== undefined && (
          <div>
            <h3>Arguments</h3>
            <JsonTree value={record.arguments as Json} label="Arguments" />
          </div>
        )}
        {record.detail !== undefined && (
          <div>
            <h3>Details</h3>
            <JsonTree value={record.detail as Json} label="Details" />
          </div>
        )}
        <div class="line">
          {place && (
            <a class="button button-small" href={place.href}>
              {place.label}
            </a>
          )}
          {record.server !== undefined && record.tool !== undefined && hasTool(record.code) && (
            <a class="button button-small" href={hrefTo('tool', [record.server, record.tool])}>
              Open the tool
            </a>
          )}
        </div>
      </div>
    </Section>
  );
}

function Row({ record, isOneKind }: { readonly record: AuditRecord; readonly isOneKind: boolean }): VNode {
  const { tokens } = record;
  const cost = tokens && plural(tokens.arguments + tokens.returned, 'token');
  return (
    <>
      <div class="row-main">
        <div class="row-title">
          <ServerLine text={titleOf(record)} />
        </div>
        <div class="row-sub">
          {cost !== undefined && <span class="narrow-only">{cost} · </span>}
          {[
            endedText(record, now.value),
            record.code,
            askedText(record.askedMs),
            (!isOneKind || record.kind === 'confirm') && record.server !== undefined && recordWord(record),
            whoOf(record),
            record.route !== undefined && routeWord(record.route),
          ]
            .filter(Boolean)
            .join(' · ')}
        </div>
      </div>
      <span class="muted small number row-number wide-only">{cost}</span>
      <span class="muted small number row-number">{workedText(record.latencyMs, record.askedMs)}</span>
      <OutcomeBadge outcome={record.outcome} code={record.code} />
    </>
  );
}

/** What was done, by whom, and how it ended. */
export function AuditView({ route }: { readonly route: Route }): VNode {
  const { kind = '', outcome = '', server = '', tool = '', sort = '', since = '', id = '' } = route.query;
  const records = useResource(
    `audit ${kind} ${outcome} ${server} ${tool} ${since}`,
    (abort) => {
      const stored = storedOutcome(outcome);
      return api.audit(
        { kind, outcome: stored, server, tool, since: sinceTime(since, Date.now()), limit: LIMIT },
        abort,
      );
    },
    (event) => event.type !== 'notification',
    10_000,
  );
  const servers = useResource('servers', api.servers, (event) => event.type === 'reloaded');
  const names = servers.data.value?.map(({ id: name }) => name) ?? [];
  const active = useMemo(() => signal<number | undefined>(undefined), [kind, outcome, server, tool, sort, since]);
  const set = (change: Readonly<Record<string, string>>): void =>
    goTo(hrefTo('audit', [], { ...route.query, ...change }), { replace: true });
  const select = (
    name: string,
    label: string,
    value: string,
    options: ReadonlyArray<readonly [string, string]>,
  ): VNode => (
    <label class="field">
      <span class="field-label">{label}</span>
      <select class="input" value={value} onChange={(event) => set({ [name]: event.currentTarget.value })}>
        {options.map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <Page
      title="Audit"
      lead={`Everything that was done, by whom, how long it took and what it cost. ${COUNTED} Secrets are taken out.`}
      wide
    >
      <div class="filters filters-many">
        {select('kind', 'Kind', kind, [['', 'Every kind'], ...KINDS])}
        {select('outcome', 'Outcome', outcome, OUTCOMES)}
        {select('sort', 'Order', sort, [
          ['', 'newest first'],
          ['slow', 'slowest first'],
          ['tokens', 'most tokens first'],
        ])}
        {select('since', 'When', since, SINCE)}
        {select('server', 'Server', server, [['', 'Every server'], ...serverOptions(names, server)])}
        <label class="field">
          <span class="field-label">Tool (exact name)</span>
          <input
            class="input"
            type="search"
            placeholder="every tool; press Enter"
            value={tool}
            onChange={(event) => set({ tool: event.currentTarget.value.trim() })}
          />
        </label>
      </div>
      <Loaded from={records} what="The audit log">
        {(read) => {
          const found = withOutcome(read, outcome);
          if (found.length === 0) {
            return (
              <Empty icon="audit" title="No record fits">
                <p>{emptyText({ kind, outcome, server, tool, since })}</p>
              </Empty>
            );
          }
          const cost = ({ tokens }: AuditRecord): number => (tokens ? tokens.arguments + tokens.returned : 0);
          const sorted =
            sort === 'slow'
              ? found.toSorted(bySlowest(({ latencyMs, askedMs }) => [latencyMs, askedMs]))
              : sort === 'tokens'
                ? found.toSorted((a, b) => cost(b) - cost(a))
                : found;
          // The record that the address names, until another one is chosen.
          const named = Math.max(
            0,
            sorted.findIndex((record) => record.id === id),
          );
          const index = Math.min(active.value ?? named, sorted.length - 1);
          return (
            <div class="split split-list">
              <Section title={countText(found.length, read.length, LIMIT)} flush>
                <VirtualList
                  id="records"
                  items={sorted}
                  rowHeight={56}
                  label="Records"
                  maxHeight="fill"
                  active={index}
                  onActive={(next) => (active.value = next)}
                  onOpen={showDetails}
                  keyOf={({ id }) => id}
                  render={(record) => <Row record={record} isOneKind={kind !== ''} />}
                />
              </Section>
              <DetailsBox>
                <Details record={sorted[index]!} />
              </DetailsBox>
            </div>
          );
        }}
      </Loaded>
    </Page>
  );
}
