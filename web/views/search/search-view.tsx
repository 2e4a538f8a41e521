import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError } from '../../api/problem.js';
import type { Hit, SearchAnswer, ServerView } from '../../api/types.js';
import { takeTyped } from '../../app/keyboard.js';
import { tell, tellError } from '../../app/notices.js';
import { useResource } from '../../app/resource.js';
import { goTo, hrefTo, type Route } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { DetailsBox, showDetails } from '../../parts/details-box.js';
import { Icon } from '../../parts/icon.js';
import { Page, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Badge, Callout, Empty, Failure } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { reasonOf } from '../../text/advice.js';
import { needsText } from '../../text/confirm-words.js';
import { pathWord } from '../../text/commands.js';
import { plural } from '../../text/format.js';
import { AgentPrice } from './agent-price.js';
import { disabledIn, exampleOf, notSearched } from './search-words.js';
import { Reasons } from './reasons.js';
import { createSearch, type Search } from './search-state.js';

const MAX_EXAMPLES = 3;
const MAX_NAMED = 5;

/** Searches that find something here: what a tool of each of the first servers does. */
async function loadExamples(signal: AbortSignal): Promise<string[]> {
  const servers = (await api.servers(signal)).filter(({ tools }) => tools > 0).slice(0, MAX_EXAMPLES);
  const lists = await Promise.all(servers.map(({ id }) => api.serverTools(id, signal)));
  return lists.flatMap((tools) => exampleOf(tools) ?? []);
}

function HitRow({ hit }: { readonly hit: Hit }): VNode {
  return (
    <>
      <span class="relevance number" title="Relevance from 0 to 1">
        {hit.relevance.toFixed(2)}
      </span>
      <div class="row-main">
        <div class="row-title">
          <span class="muted">
            <ServerLine text={hit.server} />:
          </span>
          <ServerLine text={hit.tool} />
        </div>
        <div class="row-sub">
          <ServerLine text={hit.summary} />
        </div>
      </div>
      {hit.tags.slice(0, 2).map((tag) => (
        <Badge key={tag}>{tag}</Badge>
      ))}
    </>
  );
}

async function label(query: string, { server, tool }: Hit): Promise<void> {
  try {
    await api.label(query, server, tool);
    tell(
      `Noted as a test case: “${query}” means ${server}:${tool}.`,
      'info',
      `Run \`npx toolscout eval ${pathWord(await api.labelFile())}\` to see how well such queries do.`,
    );
  } catch (thrown) {
    tellError(asApiError(thrown));
  }
}

function Details({ hit, rank, query }: { readonly hit: Hit; readonly rank: number; readonly query: string }): VNode {
  return (
    <div class="stack" aria-live="off">
      <Section title={`Why it ranks ${rank === 0 ? 'first' : `number ${rank + 1}`}`}>
        {hit.explanation ? (
          <Reasons explanation={hit.explanation} />
        ) : (
          <p class="muted">Nothing was scored: the query was empty.</p>
        )}
      </Section>
      <Section
        title="The tool"
        aside={
          <a class="button button-small" href={hrefTo('tool', [hit.server, hit.tool])}>
            Open and try it
          </a>
        }
      >
        <div class="stack stack-s">
          <p>
            <ServerText text={hit.summary} />
          </p>
          <p class="line">
            <button
              type="button"
              class="button button-small"
              disabled={!isAdmin()}
              onClick={() => void label(query, hit)}
            >
              This is what I meant
            </button>
            <span class="muted small">Wrong order? This keeps your words and this tool as a test case.</span>
          </p>
          {hit.confirm && (
            <p>
              <Badge tone="warn">needs a yes</Badge> <span class="muted">{needsText(hit.confirm)}, by </span>
              <ServerText text={reasonOf(hit.confirm.rule)} limit={300} />
            </p>
          )}
          {hit.signature && (
            <pre class="signature">
              <ServerText text={hit.signature} limit={1500} />
            </pre>
          )}
        </div>
      </Section>
    </div>
  );
}

function Nothing({ answer, search }: { readonly answer: SearchAnswer; readonly search: Search }): VNode {
  return (
    <Empty icon="search" title="No tool fits these words">
      {answer.nearest.length > 0 && (
        <p>
          Did you mean{' '}
          {answer.nearest.map((address) => {
            const [server = '', tool = ''] = address.split(/:(.*)/s);
            return (
              <a key={address} href={hrefTo('tool', [server, tool])}>
                <ServerText text={address} />{' '}
              </a>
            );
          })}
          ?
        </p>
      )}
      <p>Describe the task in other words, or see which tools agents do not get.</p>
      <p>
        <a class="button" href={hrefTo('held')}>
          See what is held back
        </a>{' '}
        <a class="button" href={hrefTo('servers')}>
          Look through the servers
        </a>{' '}
        {search.server.value && (
          <button
            type="button"
            class="button"
            onClick={() => {
              search.server.value = '';
              search.later();
            }}
          >
            Search in all servers
          </button>
        )}
      </p>
    </Empty>
  );
}

function Disabled({ servers }: { readonly servers: readonly string[] }): VNode | null {
  if (servers.length === 0) return null;
  return (
    <Callout tone="info">
      {plural(servers.length, 'server')} {servers.length === 1 ? 'is' : 'are'} disabled and not searched:{' '}
      {servers.slice(0, MAX_NAMED).map((id) => (
        <span key={id}>
          <a href={hrefTo('servers', [id])}>
            <ServerText text={id} />
          </a>{' '}
        </span>
      ))}
    </Callout>
  );
}

function Results({
  search,
  examples,
  servers,
}: {
  readonly search: Search;
  readonly examples: readonly string[];
  readonly servers: readonly ServerView[];
}): VNode {
  const answer = search.answer.value;
  const error = search.error.value;
  if (error) return <Failure error={error} onRetry={search.ask} />;
  if (!answer) {
    return (
      <Empty icon="search" title="Search as an agent does">
        <p>Type what is to be done, in plain words. You see the tools an agent would get, in its order, and why.</p>
        <p class="line line-center">
          {examples.map((example) => (
            <button
              key={example}
              type="button"
              class="button button-small"
              onClick={() => {
                search.query.value = example;
                search.later();
              }}
            >
              <ServerLine text={example} limit={60} />
            </button>
          ))}
        </p>
      </Empty>
    );
  }
  const active = Math.min(search.active.value, answer.hits.length - 1);
  const hit = answer.hits[active];
  const { unavailable, learning } = notSearched(answer, servers);
  return (
    <>
      <AgentPrice
        query={search.query.value.trim()}
        server={search.server.value}
        found={answer.hits.length}
        onChange={search.ask}
      />
      {unavailable.length > 0 && (
        <Callout tone="warn">
          <p class="strong">{plural(unavailable.length, 'server')} could not be searched.</p>
          {unavailable.slice(0, MAX_NAMED).map(({ server, reason }) => (
            <p key={server}>
              <a href={hrefTo('servers', [server])}>
                <ServerText text={server} />
              </a>{' '}
              <ServerText text={reason} limit={400} />
            </p>
          ))}
          {unavailable.length > MAX_NAMED && (
            <p>
              <a href={hrefTo('servers')}>See all servers</a>
            </p>
          )}
        </Callout>
      )}
      <Disabled servers={disabledIn(servers, search.server.value)} />
      {hit ? (
        <div class="split split-list">
          <Section
            title={plural(answer.hits.length, 'tool')}
            aside={learning.length > 0 ? `${plural(learning.length, 'server')} still learning` : 'best first'}
            flush
          >
            <VirtualList
              id="hits"
              items={answer.hits}
              rowHeight={60}
              label="Tools found"
              maxHeight="fill"
              active={active}
              onActive={(index) => (search.active.value = index)}
              onOpen={showDetails}
              keyOf={({ server, tool }) => `${server}:${tool}`}
              render={(one) => <HitRow hit={one} />}
            />
          </Section>
          <DetailsBox>
            <Details hit={hit} rank={active} query={search.query.value} />
          </DetailsBox>
        </div>
      ) : (
        <Nothing answer={answer} search={search} />
      )}
    </>
  );
}

/** Finds tools as an agent finds them, and says why they rank as they do. */
export function SearchView({ route }: { readonly route: Route }): VNode {
  const search = useMemo(createSearch, []);
  const input = useRef<HTMLInputElement>(null);
  const servers = useResource('servers', api.servers, (event) =>
    /^(?:reloaded|learned|learn-failed)$/.test(event.type),
  );
  useEffect(() => {
    input.current?.focus();
    search.follow(route.query, takeTyped());
  }, []);
  useEffect(() => search.follow(route.query), [route.query['q'], route.query['server']]);
  useEffect(() => search.followReconnects(), []);
  const examples = useResource('search examples', loadExamples);
  const open = (): void => {
    const hit = search.answer.value?.hits[search.active.value];
    if (hit) goTo(hrefTo('tool', [hit.server, hit.tool]));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const hits = search.answer.value?.hits.length ?? 0;
    if (event.key === 'ArrowDown') search.active.value = Math.min(hits - 1, search.active.value + 1);
    else if (event.key === 'ArrowUp') search.active.value = Math.max(0, search.active.value - 1);
    else if (event.key === 'Enter') open();
    else if (event.key === 'Escape' && search.query.value !== '') {
      search.query.value = '';
      search.later();
    } else return;
    event.preventDefault();
  };
  const hits = search.answer.value?.hits;
  return (
    <Page title="Search" lead="What an agent finds when it asks for a tool." wide>
      <div class="line search-line">
        <div class="search-box grow">
          <Icon name="search" />
          <input
            ref={input}
            id="search-input"
            role="combobox"
            aria-expanded={(hits?.length ?? 0) > 0}
            aria-controls="hits"
            aria-activedescendant={hits?.length ? `hits-${search.active.value}` : undefined}
            aria-label="What is to be done"
            autocomplete="off"
            spellcheck={false}
            placeholder="What is to be done? For example: read a text file"
            value={search.query.value}
            onInput={(event) => {
              search.query.value = event.currentTarget.value;
              search.later();
            }}
            onKeyDown={onKeyDown}
          />
          <kbd aria-hidden="true">/</kbd>
        </div>
        <label class="field search-server">
          <span class="sr-only">Only tools of this server</span>
          <select
            class="input"
            value={search.server.value}
            onChange={(event) => {
              search.server.value = event.currentTarget.value;
              search.later();
            }}
          >
            <option value="">All servers</option>
            {servers.data.value?.map(({ id }) => (
              <option key={id} value={id}>
                {id.slice(0, 60)}
              </option>
            ))}
          </select>
        </label>
      </div>
      <p class="sr-only" role="status">
        {hits ? `${plural(hits.length, 'tool')} found` : ''}
      </p>
      <Results search={search} examples={examples.data.value ?? []} servers={servers.data.value ?? []} />
    </Page>
  );
}
