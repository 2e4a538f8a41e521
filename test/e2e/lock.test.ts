import { readFileSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { JsonObject } from '../../src/kernel/json.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture } from '../support/fixture.js';
import { STARTS_PROCESSES } from '../support/patience.js';
import { CLI, type Workplace, workplace } from '../support/toolscout.js';

const SCHEMA = {
  type: 'object',
  properties: { mode: { type: 'string', enum: ['read', 'list'] }, path: { type: 'string' } },
};
const TOOLS: JsonObject[] = [
  { name: 'look', description: 'Looks at files.', inputSchema: SCHEMA },
  { name: '__proto__', description: 'Has an odd name.', inputSchema: { type: 'object' } },
  { name: 'paint', description: '\u001b[31mred\u001b[0m <b>bold</b> \u202etxt', inputSchema: { type: 'object' } },
];

interface Project extends Workplace {
  readonly lockFile: string;
  show(tools: readonly JsonObject[]): void;
  config(more?: ConfigInput): ConfigInput;
}

/** A project whose one server shows what the test says. */
async function project(): Promise<Project> {
  const place = await workplace({});
  const file = join(place.folder, 'tools.json');
  const show = (tools: readonly JsonObject[]): void => writeFileSync(file, JSON.stringify({ tools }));
  const config = (more: ConfigInput = {}): ConfigInput => ({
    servers: { changing: fixture('changing', `--file=${file}`) },
    ...more,
  });
  show(TOOLS);
  await place.write(config());
  return { ...place, lockFile: join(place.folder, 'toolscout.lock'), show, config };
}

/** What a host of another maker is offered in the mode that lists every tool. */
async function offered(place: Workplace): Promise<string[]> {
  const client = new Client({ name: 'test', version: '1' });
  const args = [CLI, 'serve', '--stdio', '--mode', 'passthrough', ...place.flags];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'ignore' }));
  onTestFinished(() => client.close());
  const { tools } = await client.listTools();
  await client.close();
  return tools.map(({ name }) => name).toSorted();
}

const ENUM_CHANGED = [
  {
    ...TOOLS[0],
    inputSchema: { ...SCHEMA, properties: { ...SCHEMA.properties, mode: { type: 'string', enum: ['read', 'lisT'] } } },
  },
  ...TOOLS.slice(1),
] as JsonObject[];

describe('toolscout lock', STARTS_PROCESSES, () => {
  it('SEC-10 writes the same bytes again, and check passes until one byte of one enum changes', async () => {
    const place = await project();
    expect((await place.run('lock', '--check')).code).toBe(2);
    const written = await place.run('lock', '--include-held');
    expect(written).toMatchObject({ code: 0, stdout: expect.stringContaining('1 server, 3 definitions') });
    const text = readFileSync(place.lockFile, 'utf8');
    // A second process, in which everything comes in another order.
    place.show(TOOLS.toReversed());
    expect((await place.run('lock', '--include-held')).stdout).toContain('nothing changed');
    expect(readFileSync(place.lockFile, 'utf8')).toBe(text);
    // Nothing in it can steer a terminal, or is a path of this machine.
    // oxlint-disable-next-line no-control-regex
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    for (const path of [place.folder, homedir(), `${tmpdir()}/`]) expect(text).not.toContain(path);
    expect(text).toContain('"name": "__proto__"');
    expect(await place.run('lock', '--check')).toMatchObject({ code: 0 });

    place.show(ENUM_CHANGED);
    const checked = await place.run('lock', '--check');
    expect(checked.code).toBe(4);
    expect(checked.stdout).toContain('changing: tool "look" changed: /inputSchema/properties/mode/enum/1');
    expect(checked.stdout).toMatch(/- "list"\n\s*\+ "lisT"/);
    expect((await place.run('lock', '--diff')).code).toBe(0);
    const json = await place.run('lock', '--check', '--format', 'json');
    expect(json.code).toBe(4);
    const [drift] = (JSON.parse(json.stdout) as { drifts: Array<{ line: number; name: string }> }).drifts;
    expect(text.split('\n')[drift!.line - 1]).toContain('"name": "look"');
    const sarif = await place.run('lock', '--check', '--format', 'sarif');
    expect(sarif.code).toBe(4);
    expect(JSON.parse(sarif.stdout)).toMatchObject({
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'toolscout' } }, results: [{ ruleId: 'lock-changed', level: 'error' }] }],
    });
    expect((await place.run('lock', '--format', 'sarif')).code).toBe(64);
  });

  it('SEC-10 approval: lock offers a host exactly what the lock holds', async () => {
    const place = await project();
    await place.run('lock', '--include-held');
    await place.write(place.config({ approval: 'lock' }));
    expect(await offered(place)).toHaveLength(3);

    place.show([...ENUM_CHANGED, { name: 'new', inputSchema: { type: 'object' } }]);
    await place.run('discover');
    const names = await offered(place);
    expect(names).toHaveLength(2);
    expect(names.join(' ')).not.toMatch(/look|new/);
    expect((await place.run('call', 'changing', 'look', 'path=x')).code).toBe(4);
    expect((await place.run('call', 'changing', 'paint')).code).toBe(0);
    expect((await place.run('lock', '--check')).stdout).toContain('tool "new" added');

    // A person writes it anew, although the lock is what is in force.
    expect((await place.run('lock', '--include-held')).code).toBe(0);
    expect(await offered(place)).toHaveLength(4);
  });

  it('SEC-10 with approval: lock no other server is started, and neither is one that is launched in another way', async () => {
    const place = await project();
    await place.run('lock', '--include-held');
    const { servers } = place.config();
    const witness = join(place.folder, 'started');
    const other = {
      command: process.execPath,
      args: ['-e', `require('fs').writeFileSync(${JSON.stringify(witness)}, '')`],
    };
    await place.write({
      approval: 'lock',
      servers: { ...servers, other, changing: { ...servers!['changing']!, cwd: '/' } },
    });
    expect(await offered(place)).toEqual([]);
    await place.run('discover');
    await place.run('call', 'other', 'anything');
    expect(() => readFileSync(witness)).toThrow('ENOENT');
    const { code, stdout } = await place.run('lock', '--check');
    expect(code).toBe(4);
    expect(stdout).toContain('changing: launch changed');
    expect(stdout).toContain('other: server added');
    expect(() => readFileSync(witness)).toThrow('ENOENT');
  });

  // What else can be wrong with the file: test/gateway/lock.test.ts.
  it('SEC-10 a lock file that was edited by hand is an error, and nothing is offered', async () => {
    const place = await project();
    await place.run('lock', '--include-held');
    const text = readFileSync(place.lockFile, 'utf8');
    writeFileSync(place.lockFile, text.replace('Looks at files.', 'Looks at everything.'));
    await place.write(place.config({ approval: 'lock' }));
    expect(await offered(place)).toEqual([]);
    const checked = await place.run('lock', '--check');
    expect(checked.code).toBe(2);
    expect(checked.stderr).toContain('was edited by hand');
    const called = await place.run('call', 'changing', 'look');
    expect(called.code).toBe(4);
    expect(called.stderr).toContain('was edited by hand');
  });

  it('SEC-10 A33 canaries in variables, arguments, addresses and definitions do not get into the lock', async () => {
    const place = await project();
    const canary = 'canary-0123456789abcdef';
    place.show([
      {
        name: 'leak',
        description: `Uses ${canary} in ${place.folder}/data and ${homedir()}/x.`,
        inputSchema: { type: 'object' },
      },
    ]);
    const { servers } = place.config();
    const changing = servers!['changing'] as { command: string; args: string[] };
    await place.write({
      servers: {
        changing: {
          ...changing,
          args: [...changing.args, '--token', canary],
          env: { API_TOKEN: canary, NODE_OPTIONS: '--no-warnings' },
        },
      },
    });
    expect(await place.run('lock', '--include-held')).toMatchObject({ code: 0 });
    const text = readFileSync(place.lockFile, 'utf8');
    expect(text).not.toContain(canary);
    expect(text).toContain('Uses *** in ./data and ~/x.');
    expect(text).toMatch(/"NODE_OPTIONS=sha256:[0-9a-f]{32}"/);
  });
});
