import { describe, expect, it } from 'vitest';
import { openHttpApp, type TestApp } from '../../../../test/support/http-app.js';
import { openToolscout } from '../../../../test/support/open-toolscout.js';
import { STARTS_PROCESSES } from '../../../../test/support/patience.js';
import { Config } from '../../../model/config.js';
import { createToolsApi } from '../tools-api.js';
import { ShownConfig } from './schemas.js';

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly security?: ReadonlyArray<Record<string, readonly string[]>>;
  readonly responses: Record<string, { readonly description?: string }>;
}

interface Document {
  readonly info: { readonly license?: object; readonly contact?: object; readonly description?: string };
  readonly servers?: ReadonlyArray<{ readonly url: string }>;
  readonly tags?: ReadonlyArray<{ readonly name: string; readonly description?: string }>;
  readonly paths: Record<string, Record<string, Operation>>;
}

const operationsOf = ({ paths }: Document): Array<readonly [string, Operation]> =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method} ${path}`, operation] as const),
  );

describe('/openapi.json', STARTS_PROCESSES, () => {
  it('REG-8 every operation is named, described, tagged, and says how it fails', async () => {
    const http = await openHttpApp(await openToolscout({}));
    const document = http.document as unknown as Document;
    const operations = operationsOf(document);
    const tags = new Map(document.tags?.map(({ name, description }) => [name, description]));
    expect(operations.length).toBeGreaterThan(40);
    const ids = operations.map(([, { operationId }]) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [where, operation] of operations) {
      const { operationId, summary, description, tags: own = [], responses, security } = operation;
      expect(operationId, where).toMatch(/^[a-z][A-Za-z]+$/);
      expect(summary, where).toMatch(/\S/);
      expect(description, where).toMatch(/^\S.*\.$/s);
      expect(description, where).not.toBe(summary);
      expect(own, where).toHaveLength(1);
      expect(tags.get(own[0]!), where).toMatch(/\S.*\.$/);
      expect(
        Object.keys(responses).some((status) => status.startsWith('4')),
        where,
      ).toBe(true);
      for (const response of Object.values(responses)) expect(response.description, where).toMatch(/\S/);
      // Whoever is let in without a key says so.
      expect(Array.isArray(security), where).toBe(true);
    }
    expect([...tags.keys()].toSorted()).toEqual(
      [...new Set(operations.flatMap(([, { tags: own = [] }]) => own))].toSorted(),
    );
    expect(document.info).toMatchObject({
      license: { identifier: 'Apache-2.0' },
      contact: { url: expect.stringMatching(/^https:/) as string },
      description: expect.any(String) as string,
    });
  });

  it('REG-8 names the address under which it was asked for, or the public one', async () => {
    const served = async ({ send }: TestApp): Promise<Document> =>
      (await (await send('/openapi.json')).json()) as Document;
    const plain = await openHttpApp(await openToolscout({}));
    expect((await served(plain)).servers).toEqual([{ url: 'http://127.0.0.1:7077' }]);
    const known = await openHttpApp(await openToolscout({ http: { publicUrl: 'https://tools.example.com/' } }));
    expect((await served(known)).servers).toEqual([{ url: 'https://tools.example.com' }]);
    const api = createToolsApi(await openToolscout({}), {
      prefix: 'tools',
      groups: ['status', 'registry'],
      principal: () => undefined,
    });
    const mounted = (await (await api(new Request('http://app.example/tools/openapi.json'))).json()) as Document;
    expect(mounted.servers).toEqual([{ url: '/tools' }]);
    expect(mounted.tags?.map(({ name }) => name).toSorted()).toEqual(['registry', 'status']);
  });

  it('REG-3 CFG-4 every field of the config stands in the document, and what is shown fits it', async () => {
    const shown = Object.keys(ShownConfig.shape);
    expect(Object.keys(Config.shape).filter((name) => !shown.includes(name))).toEqual([]);
    const servers = { notes: { command: 'never-started', screenResults: 'hold' as const } };
    const { send } = await openHttpApp(await openToolscout({ servers, screenResults: 'mark' }));
    expect(await (await send('/v1/config')).json()).toMatchObject({
      screenResults: 'mark',
      search: {},
      servers: [{ id: 'notes', screenResults: 'hold' }],
    });
  });
});
