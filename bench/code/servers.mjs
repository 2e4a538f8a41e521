// The servers of the bench, one kind a process (--kind=tracker|people|shop|stock|logs): made-up data that is the same each time.
import { object, option, readOnly, serve, text } from '../../test/fixtures/servers/lib/line-server.mjs';

const string = { type: 'string' };
const integer = { type: 'integer' };
const json = (value) => text(JSON.stringify(value));
const failed = (message) => ({ ...text(message), isError: true });
const list = (count, make) => Array.from({ length: count }, (_, at) => make(at + 1));
const page = (items, at, size) => ({
  items: items.slice((at - 1) * size, at * size),
  page: at,
  pages: Math.ceil(items.length / size),
});

const issues = list(60, (n) => ({
  number: n,
  title: `Problem ${n} with the ${['cart', 'search', 'login', 'invoice'][n % 4]}`,
  state: n % 3 === 0 ? 'closed' : 'open',
  assignee: `u${(n % 12) + 1}`,
  labels: n % 5 === 0 ? ['bug'] : [],
  body: `Steps to reproduce ${n}: open the page, press the button, wait. Expected a result, got an error with code ${n * 7}.`,
  created_at: `2026-0${(n % 9) + 1}-11T08:00:00Z`,
  url: `https://tracker.example/issues/${n}`,
}));
const people = list(12, (n) => ({
  id: `u${n}`,
  name: `Person ${n}`,
  email: `person${n}@example.com`,
  team: ['web', 'core', 'data'][n % 3],
  phone: `+1 555 01${String(n).padStart(2, '0')}`,
  location: { city: 'Springfield', building: n % 4, desk: n },
}));
const orders = list(200, (n) => ({
  id: `o${n}`,
  customer: `c${(n % 20) + 1}`,
  status: ['paid', 'shipped', 'returned', 'open'][n % 4],
  amount: ((n * 37) % 500) + 0.5,
  placed_at: `2026-10-${String((n % 28) + 1).padStart(2, '0')}`,
  lines: [{ sku: `s${n % 50}`, quantity: (n % 3) + 1 }],
}));
const customers = list(20, (n) => ({
  id: `c${n}`,
  name: `Customer ${n}`,
  email: `c${n}@example.com`,
  since: 2000 + n,
}));
const stock = list(120, (n) => ({
  sku: `s${n}`,
  count: (n * 13) % 90,
  warehouse: ['north', 'south'][n % 2],
  shelf: `${n % 9}-${n % 7}`,
}));
const lines = (file) =>
  list(
    200,
    (n) =>
      `2026-11-16T10:${String(n % 60).padStart(2, '0')}:00Z ${n % 11 === file ? 'ERROR' : 'INFO'} worker-${n % 5} request ${n * file} ${n % 11 === file ? ['timeout', 'refused', 'overflow'][n % 3] : 'served'} in ${n % 90} ms`,
  ).join('\n');

const kinds = {
  tracker: [
    {
      name: 'list_issues',
      description: 'Lists issues of a repository, 25 on a page.',
      inputSchema: object({ page: integer }, []),
      run: ({ page: at = 1 }) => json(page(issues, at, 25)),
    },
    {
      name: 'get_issue',
      description: 'One issue.',
      inputSchema: object({ number: integer }),
      run: ({ number }) => json(issues[number - 1]),
    },
    {
      name: 'add_label',
      description: 'Adds a label to an issue.',
      inputSchema: object({ number: integer, label: string }),
      run: ({ number, label }) => json({ ...issues[number - 1], labels: [...issues[number - 1].labels, label] }),
    },
  ],
  people: [
    {
      name: 'get_person',
      description: 'A person of the company by id.',
      inputSchema: object({ id: string }),
      run: ({ id }) => json(people.find((each) => each.id === id)),
    },
    {
      name: 'add_note',
      description: 'Writes a note about a person.',
      inputSchema: object({ id: string, note: string }),
      run: ({ id, note }) => json({ id, note, saved: true, at: '2026-11-16T10:00:00Z', by: 'bench' }),
    },
  ],
  shop: [
    {
      name: 'list_orders',
      description: 'Lists orders of a customer, or all.',
      inputSchema: object({ customer: string }, []),
      run: ({ customer }) =>
        json({ orders: orders.filter((each) => customer === undefined || each.customer === customer) }),
    },
    {
      name: 'get_order',
      description: 'One order.',
      inputSchema: object({ id: string }),
      run: ({ id }) => json(orders.find((each) => each.id === id)),
    },
    {
      name: 'find_customer',
      description: 'Finds customers by a part of their name.',
      inputSchema: object({ name: string }),
      run: ({ name }) => json({ customers: customers.filter((each) => each.name.includes(name)) }),
    },
  ],
  stock: [
    {
      name: 'list_stock',
      description: 'Lists what is on stock.',
      inputSchema: object({}, []),
      run: () => json({ items: stock }),
    },
    {
      name: 'check_host',
      description: 'Checks whether a host of the warehouse answers.',
      inputSchema: object({ host: string }),
      run: ({ host }) =>
        Number(host.slice(1)) % 4 === 3
          ? failed(`${host} did not answer within 5 s`)
          : json({ host, ok: true, latency_ms: host.length * 7, checked_at: '2026-11-16T10:00:00Z' }),
    },
  ],
  logs: [
    {
      name: 'read_log',
      description: 'The lines of a log file.',
      inputSchema: object({ file: integer }),
      run: ({ file }) => text(lines(file)),
    },
  ],
};

const kind = option('kind');
serve({
  name: kind,
  tools: kinds[kind].map((tool) => ({ ...tool, ...(/^(list|get|find|read|check)_/.test(tool.name) && readOnly) })),
});
