import { spawn } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import createClient from 'openapi-fetch';
import { describe, expect, it, onTestFinished } from 'vitest';
import { listen } from '../../src/front/http/listen/listen.js';
import { clientTypes } from '../support/client-types.js';
import { fixture, temporaryDirectory } from '../support/fixture.js';
import { openHttpApp } from '../support/http-app.js';
import { openToolscout } from '../support/open-toolscout.js';
import { finish } from '../support/toolscout.js';
import { patient, STARTS_PROCESSES } from '../support/patience.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A program as a user would write it over the generated types: right uses compile, wrong ones do not. */
const PROGRAM = `import createClient from 'openapi-fetch';
import type { paths } from './client.js';
const client = createClient<paths>({ baseUrl: 'http://127.0.0.1' });
const { data, error } = await client.GET('/v1/tools', { params: { query: { alive: 'true', tag: ['a', 'b'] } } });
const ids: string[] = data?.items.map(({ id }) => id) ?? [];
const code: string | undefined = error?.code;
const called = await client.POST('/v1/call', { body: { server: 's', tool: 't', arguments: { any: 1 } } });
const success: true | undefined = typeof called.data === 'object' ? called.data.success : undefined;
const tool = await client.GET('/v1/tools/{server}/{tool}', { params: { path: { server: 's', tool: 't' } } });
const hash: string | undefined = tool.data?.hash;
// @ts-expect-error there is no such route
await client.GET('/v1/nothing');
// @ts-expect-error a search needs words
await client.GET('/v1/search', {});
// @ts-expect-error a call needs a tool
await client.POST('/v1/call', { body: { server: 's' } });
export { ids, code, success, hash };
`;

describe('a client made of /openapi.json', STARTS_PROCESSES, () => {
  it(
    'REG-1 REG-3 compiles, and drives every route',
    async () => {
      const gateway = await openToolscout({ servers: { old: fixture('legacy') } });
      await gateway.servers.discover();
      await (await gateway.registry.get())!.refresh();
      const { app, document } = await openHttpApp(gateway);
      const front = await listen(app, { host: '127.0.0.1', port: 0 });
      onTestFinished(() => front.close());

      const folder = await temporaryDirectory();
      await mkdir(join(folder, 'src'));
      await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
      await writeFile(join(folder, 'package.json'), '{"type":"module"}');
      await writeFile(join(folder, 'src/client.d.ts'), clientTypes(document));
      await writeFile(join(folder, 'src/program.ts'), PROGRAM);
      const flags = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
      const compiler = join(root, 'node_modules/typescript/bin/tsc');
      const { code, stdout } = await finish(
        spawn(process.execPath, [compiler, ...flags, '--types', '', 'src/program.ts'], { cwd: folder, stdio: 'pipe' }),
      );
      expect({ code, stdout }).toEqual({ code: 0, stdout: '' });

      const client = createClient<Record<string, never>>({ baseUrl: front.url });
      const values: Record<string, string> = {
        id: 'old',
        server: 'old',
        tool: 'echo',
        ref: 'old',
        name: 'x',
        version: 'latest',
      };
      const paths = document['paths'] as Record<string, Record<string, { responses: Record<string, unknown> }>>;
      let driven = 0;
      for (const [path, operations] of Object.entries(paths)) {
        for (const [method, { responses }] of Object.entries(operations)) {
          const body = path === '/v1/call' ? { server: 'old', tool: 'echo', arguments: { message: 'x' } } : {};
          const { response } = await client.request(
            method as 'get',
            path as never,
            {
              params: { path: values, query: path === '/v1/search' ? { q: 'echo' } : {} },
              parseAs: 'stream',
              redirect: 'manual',
              ...(method === 'post' ? { body } : {}),
            } as never,
          );
          const known = Object.keys(responses).map((status) => status.replace('XX', ''));
          expect({
            path,
            status: response.status,
            known: known.some((each) => String(response.status).startsWith(each)),
          }).toEqual({ path, status: response.status, known: true });
          expect(response.status).toBeLessThan(500);
          driven += 1;
          await response.body?.cancel().catch(() => undefined);
        }
      }
      expect(driven).toBeGreaterThan(25);
    },
    patient(120_000),
  );
});
