/** Runs one tool and answers what a script would get; throws when it fails. */
export type Call = (server: string, tool: string, args: object) => Promise<never>;

/** Something an agent is asked to do, once call by call and once by a script; both must come to the same end. */
export interface Task {
  readonly name: string;
  /** Many calls of one kind. */
  readonly isBatch?: boolean;
  /** The tools that it needs, which the agent looks up either way. */
  readonly tools: readonly string[];
  byCalls(call: Call): Promise<unknown>;
  readonly script: string;
}

interface Issue {
  readonly number: number;
  readonly state: string;
  readonly title: string;
  readonly assignee: string;
}
interface Order {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly placed_at: string;
  readonly lines: ReadonlyArray<{ readonly sku: string; readonly quantity: number }>;
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1);

/** Adds up how often each text comes. */
function counts(texts: readonly string[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const text of texts) sums[text] = (sums[text] ?? 0) + 1;
  return sums;
}

/** The ten tasks. */
export const TASKS: readonly Task[] = [
  {
    name: 'label 20 issues',
    isBatch: true,
    tools: ['tracker:add_label'],
    async byCalls(call) {
      for (const number of numbers(20)) await call('tracker', 'add_label', { number, label: 'triage' });
      return 20;
    },
    script: `const numbers = Array.from({ length: 20 }, (_, at) => at + 1);
return (await Promise.all(numbers.map((number) => tools.tracker.add_label({ number, label: 'triage' })))).length;`,
  },
  {
    name: 'states of 20 orders',
    isBatch: true,
    tools: ['shop:get_order'],
    async byCalls(call) {
      const states: string[] = [];
      for (const n of numbers(20)) states.push(((await call('shop', 'get_order', { id: `o${n}` })) as Order).status);
      return counts(states);
    },
    script: `const states = {};
for (let n = 1; n <= 20; n++) {
  const { status } = await tools.shop.get_order({ id: 'o' + n });
  states[status] = (states[status] ?? 0) + 1;
}
return states;`,
  },
  {
    name: 'join issues and people',
    isBatch: true,
    tools: ['tracker:list_issues', 'people:get_person'],
    async byCalls(call) {
      const { items } = (await call('tracker', 'list_issues', { page: 1 })) as { items: Issue[] };
      const open = items.filter(({ state }) => state === 'open');
      const teams: string[] = [];
      const known = new Map<string, string>();
      for (const { assignee } of open) {
        if (!known.has(assignee))
          known.set(assignee, ((await call('people', 'get_person', { id: assignee })) as { team: string }).team);
        teams.push(known.get(assignee)!);
      }
      return counts(teams);
    },
    script: `const { items } = await tools.tracker.list_issues({ page: 1 });
const open = items.filter(({ state }) => state === 'open');
const ids = [...new Set(open.map(({ assignee }) => assignee))];
const people = await Promise.all(ids.map((id) => tools.people.get_person({ id })));
const teamOf = Object.fromEntries(people.map(({ id, team }) => [id, team]));
const teams = {};
for (const { assignee } of open) teams[teamOf[assignee]] = (teams[teamOf[assignee]] ?? 0) + 1;
return teams;`,
  },
  {
    name: 'pages until found',
    tools: ['tracker:list_issues'],
    async byCalls(call) {
      for (let page = 1; ; page++) {
        const { items } = (await call('tracker', 'list_issues', { page })) as { items: Issue[] };
        const found = items.find(({ title }) => title.startsWith('Problem 57 '));
        if (found) return { page, number: found.number };
      }
    },
    script: `for (let page = 1; ; page++) {
  const { items } = await tools.tracker.list_issues({ page });
  const found = items.find(({ title }) => title.startsWith('Problem 57 '));
  if (found) return { page, number: found.number };
}`,
  },
  {
    name: 'fan-out with failures',
    isBatch: true,
    tools: ['stock:check_host'],
    async byCalls(call) {
      const down: string[] = [];
      for (const n of numbers(20)) {
        const ok = await call('stock', 'check_host', { host: `h${n}` }).then(
          () => true,
          () => false,
        );
        if (!ok) down.push(`h${n}`);
      }
      return down;
    },
    script: `const hosts = Array.from({ length: 20 }, (_, at) => 'h' + (at + 1));
const checks = await Promise.allSettled(hosts.map((host) => tools.stock.check_host({ host })));
return hosts.filter((_, at) => checks[at].status === 'rejected');`,
  },
  {
    name: 'top five of a long list',
    tools: ['shop:list_orders'],
    async byCalls(call) {
      const { orders } = (await call('shop', 'list_orders', {})) as { orders: Order[] };
      return orders
        .toSorted((a, b) => b.amount - a.amount)
        .slice(0, 5)
        .map(({ id }) => id);
    },
    script: `const { orders } = await tools.shop.list_orders({});
return orders.sort((a, b) => b.amount - a.amount).slice(0, 5).map(({ id }) => id);`,
  },
  {
    name: 'a chain of three calls',
    tools: ['shop:find_customer', 'shop:list_orders', 'shop:get_order'],
    async byCalls(call) {
      const { customers } = (await call('shop', 'find_customer', { name: 'Customer 17' })) as {
        customers: Array<{ id: string }>;
      };
      const { orders } = (await call('shop', 'list_orders', { customer: customers[0]!.id })) as { orders: Order[] };
      const last = orders.toSorted((a, b) => b.placed_at.localeCompare(a.placed_at))[0]!;
      return ((await call('shop', 'get_order', { id: last.id })) as Order).lines;
    },
    script: `const { customers: [{ id }] } = await tools.shop.find_customer({ name: 'Customer 17' });
const { orders } = await tools.shop.list_orders({ customer: id });
const [last] = orders.sort((a, b) => b.placed_at.localeCompare(a.placed_at));
return (await tools.shop.get_order({ id: last.id })).lines;`,
  },
  {
    name: 'errors in three logs',
    tools: ['logs:read_log'],
    async byCalls(call) {
      const kinds: string[] = [];
      for (const file of [1, 2, 3]) {
        const lines = ((await call('logs', 'read_log', { file })) as string).split('\n');
        for (const line of lines)
          if (line.includes(' ERROR ')) kinds.push(/(timeout|refused|overflow)/.exec(line)![1]!);
      }
      return counts(kinds);
    },
    script: `const kinds = {};
for (const file of [1, 2, 3]) {
  for (const line of (await tools.logs.read_log({ file })).split('\\n')) {
    if (!line.includes(' ERROR ')) continue;
    const [kind] = /timeout|refused|overflow/.exec(line);
    kinds[kind] = (kinds[kind] ?? 0) + 1;
  }
}
return kinds;`,
  },
  {
    name: 'compare two servers',
    tools: ['shop:list_orders', 'stock:list_stock'],
    async byCalls(call) {
      const { orders } = (await call('shop', 'list_orders', { customer: 'c3' })) as { orders: Order[] };
      const { items } = (await call('stock', 'list_stock', {})) as { items: Array<{ sku: string; count: number }> };
      const left = new Map(items.map(({ sku, count }) => [sku, count]));
      return orders
        .flatMap(({ lines }) => lines)
        .filter(({ sku, quantity }) => (left.get(sku) ?? 0) < quantity)
        .map(({ sku }) => sku);
    },
    script: `const [{ orders }, { items }] = await Promise.all([tools.shop.list_orders({ customer: 'c3' }), tools.stock.list_stock({})]);
const left = new Map(items.map(({ sku, count }) => [sku, count]));
return orders.flatMap(({ lines }) => lines).filter(({ sku, quantity }) => (left.get(sku) ?? 0) < quantity).map(({ sku }) => sku);`,
  },
  {
    name: 'copy 10 records',
    isBatch: true,
    tools: ['tracker:get_issue', 'people:add_note'],
    async byCalls(call) {
      for (const number of numbers(10)) {
        const { assignee, title } = (await call('tracker', 'get_issue', { number })) as Issue;
        await call('people', 'add_note', { id: assignee, note: title });
      }
      return 10;
    },
    script: `for (let number = 1; number <= 10; number++) {
  const { assignee, title } = await tools.tracker.get_issue({ number });
  await tools.people.add_note({ id: assignee, note: title });
}
return 10;`,
  },
];
