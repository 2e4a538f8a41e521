import type { TrafficRow } from '../../api/types.js';
import { formatCount, formatTime, plural } from '../../text/format.js';
import { askedText, bySlowest } from '../../text/took.js';

/** Rows that the page keeps; the oldest leave first. */
export const MAX_ROWS = 1000;

/** What is looked for among the rows. */
export interface TrafficQuery {
  readonly text: string;
  readonly state: '' | TrafficRow['state'];
  readonly sort: '' | 'slow' | 'tokens';
}

/** A time in which nothing was recorded, because no page followed. */
export interface TrafficGap {
  readonly from: number;
  readonly until: number;
}

/** Rows as they come in, each in its newest version, a bounded number of them. */
export interface TrafficLog {
  add(row: TrafficRow): void;
  /** Newest first. */
  rows(): TrafficRow[];
  /** Takes out what has not ended. */
  dropOpen(): void;
  clear(): void;
  /** Nothing tells any more what hosts ask, from now on. */
  stop(at: number): void;
  /** It is told again. */
  resume(at: number): void;
  /** What is missing between the rows, oldest first. */
  gaps(): readonly TrafficGap[];
}

/** Of so many gaps the newest are told. */
const MAX_GAPS = 50;

/** An empty log. */
export function createTrafficLog(limit = MAX_ROWS): TrafficLog {
  // A map keeps the order of arrival: the first key is the oldest row.
  const rows = new Map<string, TrafficRow>();
  let gaps: TrafficGap[] = [];
  let stoppedAt: number | undefined;
  /** With `traffic.keep` toolscout tells what it kept: a gap ends where its first row stands, or there is none. */
  const narrow = ({ id, at }: TrafficRow): void => {
    const known = rows.get(id);
    gaps = gaps.flatMap((gap) => {
      // What ran when the gap began is only told to have ended.
      if (at >= gap.until || (at <= gap.from && (known === undefined || known.state === 'open'))) return [gap];
      // A row from before the gap is told once more: everything since then was kept.
      return at <= gap.from ? [] : [{ ...gap, until: at }];
    });
  };
  return {
    add(row) {
      if (gaps.length > 0) narrow(row);
      rows.set(row.id, row);
      if (rows.size <= limit) return;
      const [oldest] = rows.keys();
      rows.delete(oldest!);
    },
    rows: () => [...rows.values()].toReversed(),
    dropOpen() {
      for (const [id, { state }] of rows) if (state === 'open') rows.delete(id);
    },
    clear() {
      rows.clear();
      gaps = [];
      stoppedAt = undefined;
    },
    stop(at) {
      stoppedAt ??= at;
    },
    resume(at) {
      if (stoppedAt !== undefined && rows.size > 0) gaps = [...gaps, { from: stoppedAt, until: at }].slice(-MAX_GAPS);
      stoppedAt = undefined;
    },
    gaps: () => gaps,
  };
}

/** The gap between a row and the one that is listed below it, where one is. */
export function gapBelow(
  row: TrafficRow,
  below: TrafficRow | undefined,
  gaps: readonly TrafficGap[],
): TrafficGap | undefined {
  return gaps.findLast(({ from, until }) => row.at >= until && (below === undefined || below.at <= from));
}

/** That nothing is listed of a time, and why. */
export function gapText({ from, until }: TrafficGap): string {
  return `not recorded below: ${formatTime(from)} to ${formatTime(until)}`;
}

/** What stands in small letters below the name of a row; the name itself is not repeated. */
export function rowFacts(row: TrafficRow): string {
  return [
    formatTime(row.at),
    row.code,
    askedText(row.askedMs),
    row.host?.name?.slice(0, 40) ?? row.principal,
    row.method !== 'tools/call' && row.method !== rowName(row) && row.method,
    row.children.length > 0 && plural(row.children.length + row.dropped, 'part'),
  ]
    .filter(Boolean)
    .join(' · ');
}

/** What a row is called: the tool, else what the request names, else its method. */
export function rowName(row: TrafficRow): string {
  return toolOf(row) ?? row.name ?? row.method;
}

/** What a request cost, as a sentence. */
export function tokensText({ arguments: sent, returned }: TrafficRow['tokens']): string {
  return `${formatCount(sent)} in the request and ${formatCount(returned)} in the answer, counted over the whole messages`;
}

/** What stands where no row is. */
export function emptyWords(rows: number, isLive: boolean): { readonly title: string; readonly text: string } {
  if (rows > 0) return { title: 'No request fits', text: 'Loosen the search or the filters to see more.' };
  return {
    title: isLive ? 'Listening' : 'Connecting',
    text: 'The next request of a host appears here at once: searches, calls, and what servers asked back.',
  };
}

/** How many rows are listed, and of how many where some are left out. */
export function countText(found: number, all: number): string {
  return found === all ? plural(all, 'request') : `${formatCount(found)} of ${plural(all, 'request')}`;
}

/** How many rows there are that are not shown yet. */
export function countNew(shown: readonly TrafficRow[], all: readonly TrafficRow[]): number {
  const known = new Set(shown.map(({ id }) => id));
  return all.filter(({ id }) => !known.has(id)).length;
}

/** What stands beside a list that is paused. */
export function pausedText(held: number): string {
  return held === 0 ? 'paused; what comes in is shown when you resume' : `paused; ${formatCount(held)} more came in`;
}

/** Tokens that a row cost, both ways. */
export function costOf({ tokens }: TrafficRow): number {
  return tokens.arguments + tokens.returned;
}

/** The tool that a row is about, as `server:tool`: what was run, or what the host wanted to run. */
export function toolOf(row: TrafficRow): string | undefined {
  if (row.tool !== undefined) return row.tool;
  if (row.method !== 'tools/call') return undefined;
  if (row.name?.includes(':')) return row.name;
  try {
    const { arguments: args } = JSON.parse(row.request.json) as { arguments?: { server?: unknown; tool?: unknown } };
    return typeof args?.server === 'string' && typeof args.tool === 'string'
      ? `${args.server}:${args.tool}`
      : undefined;
  } catch {
    // A request that was cut names no tool.
    return undefined;
  }
}

function hasText(row: TrafficRow, wanted: string): boolean {
  const { method, name = '', tool = '', servers, principal, request, response } = row;
  return [
    method,
    name,
    tool,
    servers.join(' '),
    principal,
    row.host?.name ?? '',
    request.json,
    response?.json ?? '',
  ].some((text) => text.toLowerCase().includes(wanted));
}

/** The rows that are looked for, in the order that is wanted. */
export function selectRows(rows: readonly TrafficRow[], { text, state, sort }: TrafficQuery): readonly TrafficRow[] {
  const wanted = text.trim().toLowerCase();
  const found =
    wanted === '' && state === ''
      ? rows
      : rows.filter((row) => (state === '' || row.state === state) && (wanted === '' || hasText(row, wanted)));
  if (sort === 'slow') return found.toSorted(bySlowest(({ ms, askedMs }) => [ms, askedMs]));
  return sort === 'tokens' ? found.toSorted((a, b) => costOf(b) - costOf(a)) : found;
}

type Part = TrafficRow['children'][number];

/** What a part of a request is called: the server that was asked or connected, else its kind. */
export function partName({ kind, server, from }: Pick<Part, 'kind' | 'server' | 'from'>): string {
  if (kind === 'callback') return from === 'toolscout' ? 'confirmation' : 'question';
  return (kind === 'upstream' || kind === 'connect') && server !== undefined ? server : kind;
}

/** What was done in a part of a request; empty where its name says it. */
export function partMethod({ kind, method }: Pick<Part, 'kind' | 'method'>): string {
  if (kind === 'connect') return 'starting or reaching it';
  return method === kind ? '' : method;
}

/** What a message of a part is: who is asked what, or whose answer it is. */
export function messageTitle(part: Pick<Part, 'kind' | 'server' | 'method' | 'from'>, isAnswer: boolean): string {
  if (part.kind === 'upstream')
    return isAnswer ? `Answer of ${partName(part)}` : `To ${partName(part)}: ${part.method}`;
  if (part.kind === 'callback') {
    if (isAnswer) return 'Answer of the host';
    const asker = part.from === 'toolscout' ? 'Question of toolscout' : 'Question of the server';
    return `${asker} to the host: ${part.method}`;
  }
  const method = partMethod(part);
  return `${part.kind}${method === '' ? '' : `: ${method}`}${isAnswer ? ', answer' : ''}`;
}

/** The narrowest bar, in percent. */
const MIN_BAR = 1.5;

/** Where a part of a row stands on its time axis, in percent. */
export function barOf(
  startMs: number,
  endMs: number | undefined,
  totalMs: number,
): { readonly left: number; readonly width: number } {
  const total = Math.max(totalMs, 1);
  // What happens at the very end must still be seen.
  const left = Math.max(0, Math.min(100 - MIN_BAR, (startMs / total) * 100));
  const end = Math.max(startMs, endMs ?? startMs);
  return { left, width: Math.max(MIN_BAR, Math.min(100 - left, ((end - startMs) / total) * 100)) };
}
