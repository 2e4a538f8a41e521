import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { TrafficRow } from '../../api/types.js';
import { onForget } from '../../app/resource.js';
import { goTo, hrefTo, type Route } from '../../app/router.js';
import { DetailsBox, showDetails } from '../../parts/details-box.js';
import { Icon } from '../../parts/icon.js';
import { Page, Section } from '../../parts/page.js';
import { ServerLine } from '../../parts/server-text.js';
import { Empty, OutcomeBadge } from '../../parts/states.js';
import { VirtualList } from '../../parts/virtual-list.js';
import { formatCount, formatTime, plural } from '../../text/format.js';
import { workedText } from '../../text/took.js';
import { followTraffic } from './follow-traffic.js';
import { RowDetails } from './row-details.js';
import {
  costOf,
  countNew,
  countText,
  createTrafficLog,
  emptyWords,
  gapBelow,
  gapText,
  MAX_ROWS,
  pausedText,
  rowFacts,
  rowName,
  selectRows,
  type TrafficGap,
  type TrafficQuery,
} from './traffic-log.js';

/** Rows come faster than a person reads, so the page is drawn only this often. */
const DRAW_MS = 150;

/** What one browser tab has seen; it stays when another view is opened. */
function createTraffic() {
  const log = createTrafficLog();
  const rows = signal<readonly TrafficRow[]>([]);
  const gaps = signal<readonly TrafficGap[]>([]);
  const isPaused = signal(false);
  /** How many came in while the list stands still. */
  const held = signal(0);
  const isLive = signal(false);
  const active = signal<string | undefined>(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const draw = (): void => {
    timer = undefined;
    if (isPaused.value) held.value = countNew(rows.value, log.rows());
    else rows.value = log.rows();
    gaps.value = log.gaps();
  };
  return {
    rows,
    gaps,
    isPaused,
    held,
    isLive,
    active,
    follow: () => {
      const stop = followTraffic(
        (row) => {
          log.add(row);
          timer ??= setTimeout(draw, DRAW_MS);
        },
        (state) => {
          isLive.value = state;
          if (state) log.resume(Date.now());
          else log.stop(Date.now());
          gaps.value = log.gaps();
        },
      );
      return () => {
        stop();
        clearTimeout(timer);
        timer = undefined;
        isLive.value = false;
        log.stop(Date.now());
        // Nothing tells any more how these end.
        log.dropOpen();
        rows.value = log.rows();
        held.value = 0;
      };
    },
    pause: () => {
      isPaused.value = !isPaused.value;
      held.value = 0;
      draw();
    },
    clear: () => {
      log.clear();
      rows.value = [];
      gaps.value = [];
      held.value = 0;
    },
  };
}

/** One for the page: it is gone with the tab, and with the session. */
const traffic = createTraffic();
onForget(traffic.clear);

function Row({ row, gap }: { readonly row: TrafficRow; readonly gap: TrafficGap | undefined }): VNode {
  return (
    <>
      <div class="row-main">
        <div class="row-title">
          <ServerLine text={rowName(row)} />
        </div>
        <div class="row-sub">
          {gap && <span class="row-gap">{gapText(gap)} · </span>}
          {rowFacts(row)}
        </div>
      </div>
      <span class="muted small number row-number wide-only">{plural(costOf(row), 'token')}</span>
      <span class="muted small number row-number">{workedText(row.ms, row.askedMs) || 'running'}</span>
      <OutcomeBadge outcome={row.state} code={row.code} />
    </>
  );
}

/** What hosts, toolscout and servers say to each other, as it happens. */
export function TrafficView({ route }: { readonly route: Route }): VNode {
  useEffect(() => traffic.follow(), []);
  const { q = '', state = '', sort = '' } = route.query;
  const query: TrafficQuery = { text: q, state: state as TrafficQuery['state'], sort: sort as TrafficQuery['sort'] };
  const set = (change: Readonly<Record<string, string>>): void =>
    goTo(hrefTo('traffic', [], { ...route.query, ...change }), { replace: true });
  const found = selectRows(traffic.rows.value, query);
  const index = Math.max(
    0,
    found.findIndex(({ id }) => id === traffic.active.value),
  );
  const row = found[index];
  // In another order, or with rows left out, no two rows are neighbours in time.
  const isWhole = sort === '' && found.length === traffic.rows.value.length;
  const below = new Map(
    isWhole ? found.map((one, at) => [one.id, gapBelow(one, found[at + 1], traffic.gaps.value)] as const) : [],
  );
  const last = traffic.gaps.value.at(-1);
  const empty = emptyWords(traffic.rows.value.length, traffic.isLive.value);
  return (
    <Page
      title="Traffic"
      lead="Every request of a host, and what it led to, recorded while you look at this view; what is listed stays until you reload or close the page. Tokens are of the whole message, which is what an agent pays; Audit counts the arguments and the answer of the tool alone."
      wide
      actions={
        <>
          <button type="button" class="button" onClick={traffic.pause}>
            <Icon name={traffic.isPaused.value ? 'play' : 'pause'} />
            {traffic.isPaused.value ? 'Resume' : 'Pause'}
          </button>
          <button type="button" class="button" onClick={traffic.clear}>
            Clear
          </button>
          <a class="button" href="/v1/traffic?format=json" download="toolscout-traffic.har">
            <Icon name="download" />
            Export all (HAR)
          </a>
        </>
      }
    >
      <div class="filters">
        <label class="field filter-wide">
          <span class="field-label">Search</span>
          <input
            class="input"
            type="search"
            placeholder="tool, host, or any text of a message"
            value={q}
            onInput={(event) => set({ q: event.currentTarget.value })}
          />
        </label>
        <label class="field">
          <span class="field-label">Outcome</span>
          <select class="input" value={state} onChange={(event) => set({ state: event.currentTarget.value })}>
            <option value="">Every outcome</option>
            <option value="open">running</option>
            <option value="success">success</option>
            <option value="failure">failure</option>
            <option value="refused">refused</option>
            <option value="waiting">needs a yes</option>
          </select>
        </label>
        <label class="field">
          <span class="field-label">Order</span>
          <select class="input" value={sort} onChange={(event) => set({ sort: event.currentTarget.value })}>
            <option value="">newest first</option>
            <option value="slow">slowest first</option>
            <option value="tokens">most tokens first</option>
          </select>
        </label>
      </div>
      {row && last && (
        <p class="muted small" role="status">
          Nothing was recorded from {formatTime(last.from)} to {formatTime(last.until)}: this view was not open, or
          toolscout was away. What hosts did then is in the <a href="#/audit">audit log</a>.
        </p>
      )}
      {row ? (
        <div class="split split-list">
          <Section
            title={countText(found.length, traffic.rows.value.length)}
            aside={
              traffic.isPaused.value
                ? pausedText(traffic.held.value)
                : `live, the newest ${formatCount(MAX_ROWS)} are kept`
            }
            flush
          >
            <VirtualList
              id="traffic"
              items={found}
              rowHeight={56}
              label="Requests"
              maxHeight="fill"
              active={index}
              onActive={(next) => (traffic.active.value = found[next]?.id)}
              onOpen={showDetails}
              keyOf={({ id }) => id}
              render={(one) => <Row row={one} gap={below.get(one.id)} />}
            />
          </Section>
          <DetailsBox>
            <RowDetails row={row} />
          </DetailsBox>
        </div>
      ) : (
        <Empty icon="traffic" title={empty.title}>
          <p>{empty.text}</p>
          {traffic.rows.value.length === 0 && (
            <p>
              Earlier calls, the slowest and the most expensive, are in the{' '}
              <a href="#/audit?kind=execution&sort=slow">audit log</a>.
            </p>
          )}
        </Empty>
      )}
    </Page>
  );
}
