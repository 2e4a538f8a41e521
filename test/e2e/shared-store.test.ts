import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture, isAlive, waitUntil } from '../support/fixture.js';
import { lineMatching, workplace, type Workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

const READ = { name: 'read', description: 'Reads a note.', inputSchema: { type: 'object' } };

interface Served {
  get<T>(path: string): Promise<T>;
  post(path: string, body: object): Promise<{ readonly status: number; readonly body: { readonly code?: string } }>;
}

/** One more `serve` over HTTP in a workplace. */
async function serve(place: Workplace): Promise<Served> {
  const [, base] = await lineMatching(
    place.start('serve', '--port', '0', '--admin'),
    /(http:\/\/127\.0\.0\.1:\d+)\/mcp/,
  );
  return {
    get: async <T>(path: string) => (await (await fetch(base + path)).json()) as T,
    async post(path, body) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(base + path, { method: 'POST', body: JSON.stringify(body), headers });
      return { status: answer.status, body: (await answer.json()) as { code?: string } };
    },
  };
}

/** Waits until a call of the tool ends in this way in every process. */
async function becomes(served: readonly Served[], code: string): Promise<void> {
  for (const each of served) {
    await waitUntil(
      async () => {
        const { status, body } = await each.post('/v1/call', { server: 'notes', tool: 'read', arguments: {} });
        return (status === 200 ? 'ran' : body.code) === code;
      },
      { what: `a call that ends in ${code}`, timeoutMs: 20_000 },
    );
  }
}

describe('serve processes over one store', STARTS_PROCESSES, () => {
  it('A40 what a third process learns, and what one of two approves or rejects, holds in both', async () => {
    const place = await workplace({});
    const file = join(place.folder, 'shown.json');
    const show = (description: string): Promise<void> =>
      writeFile(file, JSON.stringify({ tools: [{ ...READ, description }] }));
    await show('Reads a note.');
    const rateLimit = { requestsPerSecond: 1000, burstSize: 1000 };
    await place.write({ servers: { notes: { ...fixture('changing', `--file=${file}`), rateLimit } } });
    expect((await place.run('discover')).code).toBe(0);
    const [one, two] = await Promise.all([serve(place), serve(place)]);
    await becomes([one, two], 'ran');
    await show('Reads a note and mails it.');
    await place.run('discover');
    await becomes([one, two], 'TOOL_CHANGED');
    // Each process has shown the request to its callers before they decide.
    const pending = await one.get<{ approvals: unknown[] }>('/v1/approvals?state=pending');
    expect(pending.approvals).toMatchObject([{ ref: 'notes:read' }]);
    expect(await one.post('/v1/approvals/notes:read/approve', {})).toMatchObject({ status: 200 });
    await becomes([one, two], 'ran');
    expect(await two.post('/v1/approvals/notes:read/reject', {})).toMatchObject({ status: 200 });
    await becomes([one, two], 'APPROVAL_REQUIRED');
  });
});

describe('an eager server', STARTS_PROCESSES, () => {
  it('NEG-7 is kept running by serve beyond its idle time, and is started again when it dies', async () => {
    const idleTimeoutMs = 50;
    const place = await workplace({
      servers: {
        kept: { ...fixture('legacy'), eager: true, idleTimeoutMs },
        plain: { ...fixture('legacy'), idleTimeoutMs },
      },
    });
    const served = await serve(place);
    type Health = { readonly state: string; readonly pid?: number };
    const health = async (server: string): Promise<Health> => {
      const { servers } = await served.get<{ servers: Array<{ id: string; health: Health }> }>('/v1/servers');
      return servers.find(({ id }) => id === server)!.health;
    };
    const pidOf = async (server: string, but?: number): Promise<number> => {
      let found: number | undefined;
      const isThere = async (): Promise<boolean> => {
        const { state, pid } = await health(server);
        found = state === 'connected' && pid !== but ? pid : undefined;
        return found !== undefined;
      };
      await waitUntil(isThere, { what: `${server} to run`, timeoutMs: 20_000 });
      return found!;
    };
    const call = async (server: string): Promise<number> =>
      (await served.post('/v1/call', { server, tool: 'echo', arguments: { message: 'x' } })).status;
    const first = await pidOf('kept');
    expect([await call('kept'), await call('plain')]).toEqual([200, 200]);
    // The other server was used last: when that one is closed as idle, this one would have been too.
    const isClosed = async (): Promise<boolean> => (await health('plain')).state === 'disconnected';
    await waitUntil(isClosed, { what: 'the other server to be closed', timeoutMs: 20_000 });
    expect(await health('kept')).toMatchObject({ state: 'connected', pid: first });
    process.kill(first, 'SIGKILL');
    expect(isAlive(await pidOf('kept', first))).toBe(true);
    expect(await call('kept')).toBe(200);
  });
});
