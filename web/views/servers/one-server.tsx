import type { VNode } from 'preact';
import { api } from '../../api/client.js';
import type { Approval, ServerDetails } from '../../api/types.js';
import { now } from '../../app/now.js';
import { useResource } from '../../app/resource.js';
import { hrefTo } from '../../app/router.js';
import { Facts, Page, Section } from '../../parts/page.js';
import { Command, ServerText } from '../../parts/server-text.js';
import { Spark } from '../../parts/spark.js';
import { Advice, Badge, Callout, Empty, Loaded } from '../../parts/states.js';
import { adviceOf } from '../../text/advice.js';
import { eraWord } from '../../text/era-word.js';
import { formatAgo, plural } from '../../text/format.js';
import { ServerActions } from './server-actions.js';
import { failedText, latencyText, offeredText, stateOf } from './server-state.js';
import { ToolTable } from './tool-table.js';

function LatencyChart({ id, latency }: { readonly id: string; readonly latency: ServerDetails['latency'] }): VNode {
  if (latency.length === 0)
    return (
      <p class="muted">Nothing was measured yet: the server is checked while it is connected, and at every call.</p>
    );
  const words = latencyText(latency);
  const failed = failedText(latency);
  return (
    <div class="stack stack-s">
      {/* One answer makes no line. */}
      {latency.length > 1 && (
        <Spark values={latency.map(({ ms, ok }) => ({ value: ms, bad: !ok }))} label={`Latency over time: ${words}`} />
      )}
      <p class="muted small">{words}. Waiting for the rate limit or for your answer is left out.</p>
      {failed !== '' && (
        <p class="small">
          {failed}. <a href={hrefTo('audit', [], { server: id, outcome: 'failure' })}>See failed calls</a>
        </p>
      )}
    </div>
  );
}

function Trouble({ server }: { readonly server: ServerDetails }): VNode | null {
  const { tone, reason } = stateOf(server);
  const { lastError } = server;
  // Nothing is wrong with a server that a person turned off.
  if (!server.enabled || (!lastError && !reason)) return null;
  const isNow = tone === 'bad';
  const advice = adviceOf(lastError?.remedy);
  return (
    <Callout tone={isNow ? 'bad' : 'warn'}>
      <p class="strong">
        {!isNow && 'Last error: '}
        <ServerText text={lastError?.message ?? reason ?? ''} />
      </p>
      {lastError && (
        <p class="muted">
          {advice && <Advice text={advice} />}
          {lastError.at !== undefined && ` Tried ${formatAgo(lastError.at, now.value)}.`}
        </p>
      )}
    </Callout>
  );
}

/** The tools of a server, or why there are none to show. */
function Tools({ server }: { readonly server: ServerDetails }): VNode {
  if (!server.enabled) {
    return (
      <Empty icon="tool" title="Agents get none of its tools">
        <p>The server is disabled. Its tools are listed here when it is enabled again.</p>
      </Empty>
    );
  }
  // Why its tools are not known stands at the top already.
  if (stateOf(server).tone === 'bad' && server.toolCounts.total === 0) {
    return (
      <Empty icon="tool" title="Its tools are not known yet">
        <p>They are learned as soon as the server answers.</p>
      </Empty>
    );
  }
  return <ToolTable id={server.id} />;
}

function Details({
  server,
  waiting,
  onChange,
}: {
  readonly server: ServerDetails;
  /** Requests of this server that wait: what was rejected is held back as well, but waits for nothing. */
  readonly waiting: readonly Approval[];
  readonly onChange: () => void;
}): VNode {
  const { word, tone } = stateOf(server);
  const { health, toolCounts, transport } = server;
  const held = waiting.filter(({ tool }) => tool !== undefined).length;
  return (
    <>
      <Trouble server={server} />
      <ServerActions server={server} onChange={onChange} />
      <div class="split">
        <Section title="State">
          <Facts
            items={[
              ['Now', <Badge tone={tone}>{word}</Badge>],
              server.description !== undefined && [
                'What it is for',
                server.descriptionFrom === 'tools' ? (
                  <span class="muted">It does not say. Its tools are listed below.</span>
                ) : (
                  <ServerText text={server.description} limit={300} />
                ),
              ],
              health.era !== undefined && ['Protocol', `${health.protocolVersion ?? ''} (${eraWord(health.era)})`],
              health.pid !== undefined && ['Process', String(health.pid)],
              server.learnedAt !== undefined && ['Tools learned', formatAgo(server.learnedAt, now.value)],
              server.signIn !== undefined && server.signIn.state !== 'local' && ['Sign-in', server.signIn.state],
              ['Latency', <LatencyChart id={server.id} latency={server.latency} />],
            ]}
          />
        </Section>
        <Section title="Launch">
          <Facts
            items={[
              ['Transport', transport.type],
              transport.target !== undefined && [
                transport.type === 'stdio' ? 'Command' : 'URL',
                <Command text={transport.target} />,
              ],
              server.cwd !== undefined && ['Folder', <code>{server.cwd}</code>],
              (transport.secrets?.length ?? 0) > 0 && ['Variables', transport.secrets!.join(', ')],
              ['Source', <ServerText text={server.source} />],
              server.tags.length > 0 && ['Tags', server.tags.map((tag) => <Badge key={tag}>{tag}</Badge>)],
            ]}
          />
        </Section>
      </div>
      {server.droppedTools > 0 && (
        <Callout tone="warn">
          {plural(server.droppedTools, 'tool')} of its list could not be used: malformed, or larger than
          limits.toolBytes.
        </Callout>
      )}
      {held > 0 && (
        <Callout tone="warn">
          {plural(held, 'tool')} of this server {held === 1 ? 'waits' : 'wait'} for approval.{' '}
          <a href={hrefTo('approvals')}>See what changed</a>
        </Callout>
      )}
      <Section title="Tools" aside={offeredText(toolCounts.enabled, toolCounts.total - toolCounts.enabled)} flush>
        <Tools server={server} />
      </Section>
      {server.instructions && (
        <Section title="What it tells agents">
          <ServerText text={server.instructions} limit={800} block />
        </Section>
      )}
      {server.stderr !== '' && (
        <Section title="Messages on stderr" aside="the end of them">
          <div class="result-text" tabIndex={0} role="region" aria-label="Messages on stderr">
            <ServerText text={server.stderr} limit={8000} block />
          </div>
        </Section>
      )}
    </>
  );
}

/** Everything about one server. */
export function OneServer({ id }: { readonly id: string }): VNode {
  const server = useResource(
    `server ${id}`,
    (signal) => api.server(id, signal),
    (event) =>
      event.server === id ||
      event.type === 'reloaded' ||
      (Array.isArray(event['servers']) && event['servers'].includes(id)),
  );
  const waiting = useResource(
    `waiting ${id}`,
    (signal) => api.approvals('pending', signal, id),
    (event) => /^(?:approval|reconsidered|learned|reloaded)$/.test(event.type),
  );
  return (
    <Page
      title={server.data.value?.title ?? id}
      lead={
        <span>
          <a href="#/servers">Servers</a> / {id}
        </span>
      }
    >
      <Loaded from={server} what="The server">
        {(found) => <Details server={found} waiting={waiting.data.value ?? []} onChange={server.reload} />}
      </Loaded>
    </Page>
  );
}
