// MCP clients of other people against the built toolscout, over both transports and in two modes; see docs/hosts.md.
// Prints a table and one JSON line; ends with 1 when a cell fails. Needs the npm registry and `npm run build`.
// --only=NAME[,NAME] runs these clients, --transport and --mode narrow the cells, --list names the clients.
import { parseArgs } from 'node:util';
import { printTable } from '../../bench/support/report.js';
import { CLI } from '../support/toolscout.js';
import { AGENTS } from './agents.js';
import { askServer, CALLS, expectedOf } from './catalogue.js';
import { endWorkplaces, openWorkplace, runCell } from './cell.js';
import { MODES, TRANSPORTS, type Client, type Mode, type Transport } from './client.js';
import { installNode, installPackages } from './install.js';
import { LIBRARIES } from './libraries.js';
import { PYTHON } from './python.js';
import { problemsOf, sawOf, type Saw } from './verdict.js';

interface Row {
  readonly client: string;
  readonly version: string;
  readonly transport: Transport;
  readonly mode: Mode;
  readonly outcome: 'ok' | 'FAILED' | 'skipped';
  readonly problems: readonly string[];
  readonly saw?: Saw;
}

const CLIENTS: readonly Client[] = [...LIBRARIES, ...PYTHON, ...AGENTS];

function chosen<T extends string>(flag: string, given: string | undefined, known: readonly T[]): readonly T[] {
  const wanted = given?.split(',');
  const unknown = wanted?.find((each) => !known.includes(each as T));
  if (unknown !== undefined) throw new Error(`--${flag}=${unknown} is not one of ${known.join(', ')}.`);
  return known.filter((each) => !wanted || wanted.includes(each));
}

const say = (text: string): void => void process.stderr.write(`${text}\n`);
const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    transport: { type: 'string' },
    mode: { type: 'string' },
    list: { type: 'boolean', default: false },
  },
});
const names = chosen(
  'only',
  values.only,
  CLIENTS.map(({ name }) => name),
);
const transports = chosen('transport', values.transport, TRANSPORTS);
const modes = chosen('mode', values.mode, MODES);

async function instructionsOf(mode: Mode): Promise<string> {
  const workplace = await openWorkplace(`instructions-${mode}`);
  const args = [CLI, 'serve', '--stdio', '--mode', mode, ...workplace.flags];
  const { initialize } = await askServer({ command: process.execPath, args }, []);
  await workplace.remove();
  return String(initialize?.instructions ?? '');
}

async function runClient(client: Client, instructions: Readonly<Record<Mode, string>>): Promise<Row[]> {
  const cells = transports
    .filter((transport) => (client.transports ?? TRANSPORTS).includes(transport))
    .flatMap((transport) =>
      modes.filter((mode) => (client.modes ?? MODES).includes(mode)).map((mode) => ({ transport, mode })),
    );
  const version = Object.values(client.packages)[0] ?? '';
  const row = { client: client.name, version };
  let installed: string;
  let node: string;
  try {
    say(`${client.name}: installing`);
    const found = client.install ? await client.install() : undefined;
    if (found && 'skip' in found) {
      say(`${client.name}: skipped. ${found.skip}`);
      return cells.map((cell) => ({ ...row, ...cell, outcome: 'skipped', problems: [found.skip] }));
    }
    installed = found?.folder ?? (await installPackages(client.name, client.packages));
    node = client.node === undefined ? process.execPath : await installNode(client.node);
  } catch (thrown) {
    return cells.map((cell) => ({ ...row, ...cell, outcome: 'FAILED', problems: [messageOf(thrown)] }));
  }
  const workplace = await openWorkplace(client.name);
  const rows: Row[] = [];
  for (const cell of cells) {
    const all = (await expectations)[cell.mode];
    // The calls show that the list is not empty where more cannot be seen.
    const expected = client.hidesTools === true ? { ...all, tools: CALLS[cell.mode].map(({ name }) => name) } : all;
    try {
      const observed = await runCell(client, { workplace, installed, node }, cell);
      const problems = problemsOf(observed, expected, CALLS[cell.mode]);
      const saw = sawOf(observed, cell.mode, instructions[cell.mode]);
      rows.push({ ...row, ...cell, outcome: problems.length === 0 ? 'ok' : 'FAILED', problems, saw });
    } catch (thrown) {
      rows.push({ ...row, ...cell, outcome: 'FAILED', problems: [messageOf(thrown)] });
    }
    const last = rows.at(-1);
    say(`${client.name}: ${cell.transport} ${cell.mode} ${last?.outcome}`);
    for (const problem of last?.problems ?? []) say(`    ${problem}`);
  }
  await workplace.remove();
  return rows;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void endWorkplaces().finally(() => process.exit(130)));
}
const expectations = expectedOf();
if (values.list) {
  for (const { name, packages } of CLIENTS) say(`${name}  ${Object.entries(packages).map((each) => each.join('@'))}`);
} else {
  const instructions = { meta: await instructionsOf('meta'), passthrough: await instructionsOf('passthrough') };
  const rows: Row[] = [];
  for (const client of CLIENTS) {
    if (names.includes(client.name)) rows.push(...(await runClient(client, instructions)));
  }
  printTable(
    'MCP clients against toolscout',
    ['client', 'version', 'transport', 'mode', 'prefix', 'instructions', 'deferred', 'longest', 'oneOf', ''],
    rows.map(({ client, version, transport, mode, outcome, saw }) => [
      client,
      version,
      transport,
      mode,
      saw?.prefix ?? '',
      saw ? String(saw.instructions) : '',
      String(saw?.deferred ?? ''),
      String(saw?.longestName ?? ''),
      saw?.rootOneOf ?? '',
      outcome,
    ]),
  );
  console.log(JSON.stringify({ clients: rows }));
  if (rows.length === 0 || rows.some(({ outcome }) => outcome === 'FAILED')) process.exitCode = 1;
}
