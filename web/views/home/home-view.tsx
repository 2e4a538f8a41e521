import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { Overview } from '../../api/types.js';
import { asks } from '../../app/asks.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { hrefTo } from '../../app/router.js';
import { asOwn } from '../../app/session.js';
import { waiting } from '../../app/waiting.js';
import { Page, Section } from '../../parts/page.js';
import { Command, ServerLine } from '../../parts/server-text.js';
import { Bars } from '../../parts/spark.js';
import { Empty, Loaded, OutcomeBadge } from '../../parts/states.js';
import { formatAgo, formatCount, formatRatio, plural } from '../../text/format.js';
import { COUNTED, menuText } from '../../text/token-words.js';
import { workedText } from '../../text/took.js';
import { AttentionList } from './attention.js';
import { FirstRun } from './first-run.js';
import { callsNote, missingNote, serversNote } from './home-words.js';

const HOME_EVENTS = /^(?:state|learned|learn-failed|reloaded|reload-failed|reconsidered|approval|calls)$/;
/** The hours of the chart move on while nothing happens. */
const EVERY_MS = 60_000;

function Tiles({ overview }: { readonly overview: Overview }): VNode {
  const { servers, tools, hours } = overview;
  const calls = hours.reduce((sum, hour) => sum + hour.calls, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const waits = hours.reduce((sum, hour) => sum + hour.waiting, 0);
  const missing = missingNote(tools, servers);
  return (
    <div class="tiles">
      <a class="tile" href="#/servers">
        <span class="tile-label">Servers</span>
        <span class="tile-value number">{formatCount(servers.total)}</span>
        <span class="tile-note">{serversNote(servers)}</span>
      </a>
      <div class="tile">
        <a class="tile-link" href="#/search">
          <span class="tile-label">Tools that agents can use</span>
          <span class="tile-value number">{formatCount(tools.enabled)}</span>
        </a>
        <span class="tile-note">
          {missing === undefined ? 'all that the servers have' : <a href="#/held">{missing}</a>}
        </span>
      </div>
      <a class="tile" href="#/audit?kind=execution">
        <span class="tile-label">Calls in 24 hours</span>
        <span class="tile-value number">{formatCount(calls)}</span>
        <span class="tile-note">{callsNote(calls, failed, waits)}</span>
      </a>
    </div>
  );
}

function Tokens({ tokens }: { readonly tokens: Overview['tokens'] }): VNode {
  const share = tokens.everything === 0 ? 0 : Math.min(1, tokens.now / tokens.everything);
  return (
    <Section title="What an agent pays before it starts">
      <div class="stack stack-s">
        <p class="saving">
          <span class="saving-now number">{formatCount(tokens.now)}</span> tokens instead of{' '}
          <span class="number strong">{formatCount(tokens.everything)}</span>
          {tokens.everything > tokens.now && (
            <span class="saving-ratio">{formatRatio(tokens.everything, tokens.now)} less</span>
          )}
        </p>
        <div
          class="meter meter-tall"
          role="img"
          aria-label={`${Math.round(share * 100)} % of what loading every tool would cost`}
        >
          <span style={{ width: `${Math.max(0.5, share * 100)}%` }} />
        </div>
        <p class="muted small">
          {menuText(tokens)} Measured on what a host of this toolscout gets, against the definitions of all your tools.
          {tokens.everything <= tokens.now && ' It stays the same however many servers you add.'}
        </p>
      </div>
    </Section>
  );
}

function Calls({ hours }: { readonly hours: Overview['hours'] }): VNode {
  const calls = hours.reduce((sum, hour) => sum + hour.calls, 0);
  const failed = hours.reduce((sum, hour) => sum + hour.failed, 0);
  const waits = hours.reduce((sum, hour) => sum + hour.waiting, 0);
  if (calls === 0) {
    return (
      <Section title="Calls">
        <Empty icon="traffic" title="No calls in the last 24 hours">
          <p>
            Connect a host, such as Cursor, with <Command text={`${asOwn('npx toolscout install')} cursor`} />, or{' '}
            <a href="#/search">find a tool</a> and try it here.
          </p>
        </Empty>
      </Section>
    );
  }
  const name = (at: number): string => new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' });
  return (
    <Section title="Calls" aside="by hour, the last 24 hours">
      <Bars
        values={hours.map(({ at, ...hour }) => ({
          name: name(at),
          ok: hour.calls - hour.failed - hour.waiting,
          bad: hour.failed,
          waiting: hour.waiting,
        }))}
        label={`${plural(calls, 'call')} in 24 hours: ${callsNote(calls, failed, waits)}`}
        words={{ ok: 'succeeded', bad: 'did not succeed', waiting: 'needs a yes' }}
        axis={[hours[0] ? name(hours[0].at) : '', 'now']}
      />
    </Section>
  );
}

function LastCalls(): VNode | null {
  const records = useResource(
    'last calls',
    (signal) => api.audit({ kind: 'execution', limit: 5 }, signal),
    (event) => HOME_EVENTS.test(event.type),
    EVERY_MS,
  );
  const found = records.data.value;
  if (!found || found.length === 0) return null;
  return (
    <Section title="Last calls" aside={<a href="#/audit?kind=execution">All calls</a>} flush>
      <div class="table-scroll" tabIndex={0} role="region" aria-label="Last calls">
        <table class="table table-stack">
          <thead>
            <tr>
              <th scope="col">Tool</th>
              <th scope="col">Outcome</th>
              <th scope="col" class="right">
                Tokens: arguments + answer
              </th>
              <th scope="col" class="right">
                Took
              </th>
              <th scope="col" class="right">
                When
              </th>
            </tr>
          </thead>
          <tbody>
            {found.map(({ id, server = '', tool = '', outcome, code, tokens, latencyMs, askedMs, time }) => (
              <tr key={id}>
                <td>
                  <a href={hrefTo('audit', [], { kind: 'execution', id })}>
                    <ServerLine text={`${server}:${tool}`} limit={80} />
                  </a>
                </td>
                <td>
                  <OutcomeBadge outcome={outcome} code={code} />
                </td>
                <td class="right number">
                  {tokens && (
                    <>
                      <span class="narrow-only">arguments + answer: </span>
                      {formatCount(tokens.arguments)} + {formatCount(tokens.returned)}
                      <span class="narrow-only"> tokens</span>
                    </>
                  )}
                </td>
                <td class="right number">{workedText(latencyMs, askedMs)}</td>
                <td class="right muted">{formatAgo(time, now.value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="bulk muted small">{COUNTED}</p>
    </Section>
  );
}

/** What there is, what it costs, and what needs attention. */
export function HomeView(): VNode {
  const overview = useResource('overview', api.overview, (event) => HOME_EVENTS.test(event.type), EVERY_MS);
  const waits = waiting.value;
  const told = useRef(waits);
  useEffect(() => {
    if (told.current !== waits) overview.reload();
    told.current = waits;
  }, [waits]);
  return (
    <Page title="Home" lead="What your agents can do, and what they did.">
      <Loaded from={overview} what="The overview">
        {(found) =>
          found.empty ? (
            <>
              {found.attention.length + asks.value.length > 0 && (
                <AttentionList items={found.attention} onChange={overview.reload} />
              )}
              <FirstRun onChange={overview.reload} />
            </>
          ) : (
            <>
              <AttentionList items={found.attention} onChange={overview.reload} />
              <Tiles overview={found} />
              <div class="split split-even">
                <Tokens tokens={found.tokens} />
                <Calls hours={found.hours} />
              </div>
              <LastCalls />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}
