import type { VNode } from 'preact';
import type { Json, TrafficPayload, TrafficRow } from '../../api/types.js';
import { hrefTo } from '../../app/router.js';
import { levelsToOpen } from '../../parts/json-levels.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Facts, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { OutcomeBadge } from '../../parts/states.js';
import { formatBytes, formatCount, formatDateTime, formatDuration } from '../../text/format.js';
import { codeText, placeOfCode } from '../../text/code-words.js';
import { eraWord } from '../../text/era-word.js';
import { routeWord } from '../../text/route-word.js';
import { askedText, workedText } from '../../text/took.js';
import { barOf, messageTitle, partMethod, partName, tokensText, toolOf } from './traffic-log.js';

/** What is shown of the parts of a row. */
const MAX_CHILDREN = 200;

function PayloadView({ title, payload }: { readonly title: string; readonly payload: TrafficPayload }): VNode {
  let value: Json | undefined;
  try {
    value = payload.cut ? undefined : (JSON.parse(payload.json) as Json);
  } catch {
    // A payload that was cut is shown as text.
    value = undefined;
  }
  return (
    <div class="stack stack-s">
      <h3>
        {title} <span class="muted small">{formatBytes(payload.bytes)}</span>
      </h3>
      {value === undefined ? (
        <div class="result-text" tabIndex={0} role="region" aria-label={title}>
          <ServerText text={payload.json} limit={4000} block />
        </div>
      ) : (
        <JsonTree value={value} open={levelsToOpen(value)} label={title} />
      )}
      {payload.cut && <p class="muted small">Cut: only the beginning is kept.</p>}
    </div>
  );
}

function Waterfall({ row }: { readonly row: TrafficRow }): VNode {
  const end = Math.max(row.ms ?? 0, ...row.children.map(({ startMs, endMs }) => endMs ?? startMs));
  return (
    <div class="waterfall" role="table" aria-label="Parts of the request over time">
      {row.children.slice(0, MAX_CHILDREN).map((child, index) => {
        const { left, width } = barOf(child.startMs, child.endMs, end);
        const took = child.endMs === undefined ? '' : formatDuration(child.endMs - child.startMs);
        return (
          <div key={index} class="waterfall-row" role="row">
            <span class="waterfall-name" role="cell">
              <span class="strong">
                <ServerLine text={partName(child)} limit={40} />
              </span>{' '}
              <span class="muted">
                <ServerLine text={partMethod(child)} limit={60} />
              </span>
            </span>
            <span class="waterfall-track" role="cell" aria-label={`begins after ${formatDuration(child.startMs)}`}>
              <span
                class={`waterfall-bar waterfall-${child.outcome === 'failure' ? 'bad' : child.kind}`}
                style={{ marginLeft: `${left}%`, width: `${width}%` }}
              />
            </span>
            <span class="waterfall-time number" role="cell">
              {took}
            </span>
          </div>
        );
      })}
      {row.dropped + Math.max(0, row.children.length - MAX_CHILDREN) > 0 && (
        <p class="muted small">
          {formatCount(row.dropped + Math.max(0, row.children.length - MAX_CHILDREN))} more parts are not shown.
        </p>
      )}
    </div>
  );
}

/** One request whole: what was said, when, and what it cost. */
export function RowDetails({ row }: { readonly row: TrafficRow }): VNode {
  const address = toolOf(row);
  const [server, tool] = address?.split(/:(.*)/s) ?? [];
  const place = placeOfCode(row.code, server, tool);
  return (
    <div class="stack">
      <Section title="Request" aside={<OutcomeBadge outcome={row.state} code={row.code} />}>
        <Facts
          items={[
            ['Method', <code>{row.method}</code>],
            server !== undefined &&
              tool !== undefined && [
                'Tool',
                <a href={hrefTo('tool', [server, tool])}>
                  <ServerLine text={address!} />
                </a>,
              ],
            [
              'From',
              `${row.host?.name ?? row.principal}, ${routeWord(row.route)}${row.host?.era ? ` (${eraWord(row.host.era)})` : ''}`,
            ],
            ['When', formatDateTime(row.at)],
            row.ms !== undefined && [
              'Took',
              [workedText(row.ms, row.askedMs), askedText(row.askedMs)].filter(Boolean).join(', and '),
            ],
            ['Tokens', tokensText(row.tokens)],
            row.code !== undefined && [
              'Why',
              <>
                {codeText(row.code)} <code class="muted">{row.code}</code>{' '}
                {place && <a href={place.href}>{place.label}</a>}
              </>,
            ],
            row.traceId !== undefined && ['Trace', <code>{row.traceId}</code>],
          ]}
        />
      </Section>
      {row.children.length > 0 && (
        <Section title="What it led to">
          <Waterfall row={row} />
        </Section>
      )}
      <Section title="Messages" aside="secrets are taken out">
        <div class="stack">
          <PayloadView title="Request of the host" payload={row.request} />
          {row.response && <PayloadView title="Answer to the host" payload={row.response} />}
          {row.children.slice(0, 20).map((child, index) => (
            <>
              {child.request && (
                <PayloadView key={`q${index}`} title={messageTitle(child, false)} payload={child.request} />
              )}
              {child.response && (
                <PayloadView key={`r${index}`} title={messageTitle(child, true)} payload={child.response} />
              )}
            </>
          ))}
        </div>
      </Section>
    </div>
  );
}
