import { cooperatively } from '../../kernel/async/cooperative.js';
import { addressOf } from '../../kernel/ids.js';
import type { JsonObject } from '../../kernel/json.js';
import { estimateJsonTokens } from '../../kernel/tokens.js';
import type { AuditSum, Stats, StatsGroup, StatsQuery, Usage, UsageRow } from '../../model/stats.js';
import type { Tool } from '../../model/tool.js';
import type { Viewer } from '../../model/viewer.js';

/** Rows of an answer unless a caller says otherwise. */
const DEFAULT_ROWS = 100;

const READS: ReadonlySet<string> = new Set(['resource-read', 'prompt-get', 'completion']);

/** Whether a sum is about something that costs an agent tokens, and not about an administrative act. */
function isUsage({ kind }: AuditSum): boolean {
  return kind === 'execution' || kind === 'search' || kind === 'menu' || kind === 'answer' || READS.has(kind);
}

/**
 * The fields by which the store groups sums: besides the requested one, a viewer that sees only some servers needs the
 * owner of each sum.
 */
export function groupsFor(by: StatsGroup, viewer: Viewer): readonly StatsGroup[] {
  const wanted: StatsGroup[] = by === 'tool' ? ['server', 'tool'] : [by];
  return viewer.isLimited ? [...new Set<StatsGroup>([...wanted, 'server', 'tool', 'principal'])] : wanted;
}

/** Of what belongs to no server a viewer who sees only some servers sees their own. */
export function isSumSeen({ server, tool, principal }: AuditSum, viewer: Viewer): boolean {
  if (!viewer.isLimited) return true;
  return server === undefined ? principal === viewer.principal : viewer.sees(server, tool);
}

function keyOf(sum: AuditSum, by: StatsGroup): string {
  const { server, tool } = sum;
  if (by !== 'tool') return sum[by] ?? '';
  return server !== undefined && tool !== undefined ? addressOf(server, tool) : (server ?? '');
}

const NOTHING: Usage = {
  calls: 0,
  failed: 0,
  reads: 0,
  searches: 0,
  menus: 0,
  tokens: { arguments: 0, returned: 0, withheld: 0 },
};

function plus(usage: Usage, { kind, records, failed, tokens }: AuditSum): Usage {
  const isCall = kind === 'execution';
  return {
    calls: usage.calls + (isCall ? records : 0),
    failed: usage.failed + (isCall ? failed : 0),
    reads: usage.reads + (READS.has(kind) ? records : 0),
    searches: usage.searches + (kind === 'search' ? records : 0),
    menus: usage.menus + (kind === 'menu' ? records : 0),
    tokens: {
      arguments: usage.tokens.arguments + tokens.arguments,
      returned: usage.tokens.returned + tokens.returned,
      withheld: usage.tokens.withheld + tokens.withheld,
    },
  };
}

function compareRows(by: StatsGroup, a: UsageRow, b: UsageRow): number {
  const names = a.key < b.key ? -1 : 1;
  if (by === 'day' || by === 'hour') return -names;
  return b.tokens.arguments + b.tokens.returned - (a.tokens.arguments + a.tokens.returned) || names;
}

/** What the definitions of tools cost together; each is counted once as long as it stays the same object. */
export function createDefinitionTokens(): (tools: readonly Tool[]) => Promise<number> {
  const known = new WeakMap<JsonObject, number>();
  return async (tools) => {
    let tokens = 0;
    await cooperatively(tools, ({ definition }) => {
      const counted = known.get(definition) ?? estimateJsonTokens(definition);
      known.set(definition, counted);
      tokens += counted;
    });
    return tokens;
  };
}

/** Adds up what a viewer may see of the sums of the audit log, and compares it with the cost of every tool (ANS-7). */
export function addUp(
  { by = 'day', since, until, limit = DEFAULT_ROWS }: StatsQuery,
  all: readonly AuditSum[],
  viewer: Viewer,
  menu: { readonly tools: number; readonly everyTool: number },
): Stats {
  const sums = all.filter((sum) => isUsage(sum) && isSumSeen(sum, viewer));
  const rows = new Map<string, Usage>();
  let total = NOTHING;
  let given = 0;
  for (const sum of sums) {
    const key = keyOf(sum, by);
    rows.set(key, plus(rows.get(key) ?? NOTHING, sum));
    total = plus(total, sum);
    if (sum.kind === 'menu') given += sum.tokens.returned;
  }
  const sorted = [...rows].map(([key, usage]) => ({ key, ...usage })).toSorted((a, b) => compareRows(by, a, b));
  return {
    by,
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    rows: sorted.slice(0, limit),
    more: Math.max(0, sorted.length - limit),
    total,
    menu: { ...menu, given },
    saved: Math.max(0, total.menus * menu.everyTool - given) + total.tokens.withheld,
  };
}
