import { copyFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Gateway, ToolscoutEvent } from '../../src/gateway/index.js';
import type { JsonObject } from '../../src/kernel/json.js';
import { openGateway } from '../../src/app/open-gateway.js';
import type { ConfigInput } from '../../src/model/config.js';
import { fixture, temporaryDirectory, waitUntil } from '../support/fixture.js';
import { openToolscout } from '../support/open-toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

const READ: JsonObject = { name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } };
const CHANGED: JsonObject = { ...READ, description: 'Reads a note and mails it.' };

interface Workspace {
  readonly stateDir: string;
  show(tools: readonly JsonObject[], instructions?: string): Promise<void>;
  /** One more toolscout over the same state, as another process would be. */
  open(config?: ConfigInput, options?: { readonly refreshFirst?: boolean }): Promise<Gateway>;
}

async function createWorkspace(): Promise<Workspace> {
  const folder = await temporaryDirectory();
  const file = join(folder, 'shown.json');
  const stateDir = join(folder, 'state');
  const show: Workspace['show'] = (tools, instructions) => writeFile(file, JSON.stringify({ tools, instructions }));
  await show([READ]);
  const servers = { notes: fixture('changing', `--file=${file}`) };
  return {
    stateDir,
    show,
    open: (config = {}, options = {}) => openToolscout({ servers, ...config }, { stateDir, ...options }),
  };
}

const codeOf = async (gateway: Gateway): Promise<string> =>
  (await gateway.call('notes', 'read', {})).error?.code ?? 'ran';
/** Waits until a call ends in this way; changes of another process come within a second. */
const becomes = (gateway: Gateway, code: string): Promise<void> =>
  waitUntil(async () => (await codeOf(gateway)) === code, { what: `a call that ends in ${code}` });

describe('two processes over one store', STARTS_PROCESSES, () => {
  it('A40 a change that one learns stops the old definition in the other; approving it in one opens it in the other', async () => {
    const here = await createWorkspace();
    const [serving, other] = [await here.open(), await here.open()];
    await serving.servers.discover();
    expect(await codeOf(serving)).toBe('ran');
    const events: ToolscoutEvent[] = [];
    serving.onEvent((event) => events.push(event));
    await here.show([CHANGED]);
    await other.servers.discover();
    await becomes(serving, 'TOOL_CHANGED');
    expect((await serving.tools.list('notes')).map(({ name }) => name)).toEqual([]);
    expect((await serving.search('read a note')).hits).toEqual([]);
    // Hosts of the one that did not ask the server are told, too.
    await waitUntil(() => events.some((event) => event.type === 'learned' && event.changed.tools));
    await other.approvals.approve('notes:read');
    await becomes(serving, 'ran');
    expect(serving.tools.definition('notes', 'read')).toMatchObject({ description: CHANGED['description'] });
    await other.approvals.reject('notes:read');
    await becomes(serving, 'APPROVAL_REQUIRED');
  });

  it('A40 the same without a cache: an approval of what this process never saw has it ask the server', async () => {
    const here = await createWorkspace();
    const cache = { enabled: false };
    const [serving, other] = [await here.open({ cache }), await here.open({ cache })];
    await serving.servers.discover();
    await other.servers.discover();
    await here.show([CHANGED]);
    await other.servers.discover();
    await becomes(serving, 'TOOL_CHANGED');
    await other.approvals.approve('notes:read');
    await becomes(serving, 'ran');
    expect(serving.tools.definition('notes', 'read')).toMatchObject({ description: CHANGED['description'] });
  });

  it('A40 what one process learns another offers without asking; what one forgets is old in the other', async () => {
    const here = await createWorkspace();
    const [serving, other] = [await here.open(), await here.open()];
    await serving.ready();
    await other.servers.discover();
    await waitUntil(async () => (await serving.tools.offered()).length === 1);
    expect((await serving.servers.list())[0]).toMatchObject({ id: 'notes', knowledge: 'ready' });
    await other.tools.clearCache();
    await waitUntil(async () => (await serving.servers.list())[0]?.knowledge === 'stale');
  });

  it('A40 a held server opens and closes in a running process by decisions in another one', async () => {
    const here = await createWorkspace();
    const [serving, other] = [await here.open(), await here.open()];
    await serving.servers.discover();
    await other.approvals.reject('notes', { reason: 'no' });
    await becomes(serving, 'APPROVAL_REQUIRED');
    await other.approvals.approve('notes');
    await becomes(serving, 'ran');
  });

  it('A40 a process that ends soon asks a server again before it answers from an old list, within bounds', async () => {
    const here = await createWorkspace();
    const first = await here.open();
    await first.servers.discover();
    await here.show([CHANGED, { ...READ, name: 'write' }]);
    const short = await here.open({ cache: { ttlMs: 0 } }, { refreshFirst: true });
    expect(await codeOf(short)).toBe('TOOL_CHANGED');
    expect((await short.tools.list('notes')).map(({ name }) => name)).toEqual(['write']);
    await here.show([CHANGED, { ...READ, name: 'erase' }]);
    const searching = await here.open(
      { cache: { ttlMs: 0 }, limits: { searchWaitMs: patient(10_000) } },
      { refreshFirst: true },
    );
    const { hits } = await searching.search('erase read write', { limit: 50 });
    expect(hits.map(({ tool }) => tool)).toEqual(['erase']);
  });
});

describe('a store that is not what it was', STARTS_PROCESSES, () => {
  const removeDatabase = async (stateDir: string): Promise<void> => {
    for (const name of await readdir(stateDir)) if (name.startsWith('toolscout.db')) await rm(join(stateDir, name));
  };

  it('A48 deleted under a running process: everything waits there and in the next, until one command accepts it', async () => {
    const here = await createWorkspace();
    const serving = await here.open();
    await serving.servers.discover();
    expect(await codeOf(serving)).toBe('ran');
    await removeDatabase(here.stateDir);
    await becomes(serving, 'APPROVAL_REQUIRED');
    expect(await serving.config.storeStatus()).toMatchObject({ doubt: { reason: 'vanished' } });
    // What the server shows now must not become what is trusted.
    await here.show([CHANGED]);
    const next = await here.open();
    expect(await codeOf(next)).toBe('APPROVAL_REQUIRED');
    expect(await next.servers.discover()).toEqual([]);
    const { findings } = await next.reports.doctor();
    expect(findings).toContainEqual(expect.objectContaining({ subject: 'store', level: 'error' }));
    expect(await next.approvals.list()).toEqual([]);
    expect(await next.config.acceptStore({ by: 'ann', reason: 'I deleted it' })).toMatchObject({ reason: 'vanished' });
    expect(await codeOf(next)).toBe('ran');
    await becomes(serving, 'ran');
    expect(await next.config.acceptStore()).toBeUndefined();
    expect(await next.audit.list({ kind: 'store-accept' })).toMatchObject([{ principal: 'ann' }]);
  });

  it('A48 an older copy of it: a rejection that it does not know is not forgotten silently', async () => {
    const here = await createWorkspace();
    const file = join(here.stateDir, 'toolscout.db');
    const first = await here.open();
    await first.servers.discover();
    await first.close();
    await copyFile(file, `${here.stateDir}/copy`);
    const second = await here.open();
    await second.approvals.reject('notes');
    await second.close();
    await removeDatabase(here.stateDir);
    await copyFile(`${here.stateDir}/copy`, file);
    const notices: string[] = [];
    const third = await openGateway({
      config: { servers: { notes: fixture('changing') } },
      stateDir: here.stateDir,
      env: {},
      learnAtStart: false,
      onNotice: (notice) => notices.push(notice),
    });
    onTestFinished(() => third.close({ drainMs: 0 }));
    expect(await codeOf(third)).toBe('APPROVAL_REQUIRED');
    expect(notices).toMatchObject([expect.stringContaining('older copy')]);
  });

  it('A40 a quarantine that could not be stored makes the next process ask the server, not the cache', async () => {
    const here = await createWorkspace();
    const first = await here.open();
    await first.servers.discover();
    await first.close();
    await here.show([CHANGED]);
    await writeFile(join(here.stateDir, 'trust-unsaved'), '');
    const next = await here.open();
    expect(await codeOf(next)).toBe('TOOL_CHANGED');
    expect(await readdir(here.stateDir)).not.toContain('trust-unsaved');
  });
});
