import * as fc from 'fast-check';
import { printable } from '../kernel/text.js';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { resolveConfig } from '../config/index.js';
import type { JsonObject } from '../kernel/json.js';
import { createSecretMask } from '../kernel/secrets.js';
import type { ServerEntry } from '../model/config.js';
import { Manifest } from '../model/manifest.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { compileRules, normalizeTool } from '../normalize/index.js';
import { toolSignature, toolToManifest } from './manifest.js';
import { bareUrl, splitTarget } from './target.js';
import { rtfsFile } from './rtfs/write-rtfs.js';

function serverOf(entry: ServerEntry, env: Record<string, string> = {}): { server: Server; secrets: string[] } {
  const { servers, secrets } = resolveConfig({ servers: { s: entry } }, { source: 'library', env });
  return { server: servers[0]!, secrets };
}

function toolOf(definition: JsonObject): Tool {
  return normalizeTool({ id: 's', tags: [] }, { name: 'list_issues', ...definition }, compileRules([]));
}

describe('toolToManifest', () => {
  it('SCH-7 a tool of a remote server', () => {
    const { server } = serverOf({ url: 'https://api.github.com/mcp' });
    const inputSchema = {
      type: 'object',
      properties: { z: { type: 'string' }, state: { enum: ['open'] }, a: { type: 'integer' }, b: {} },
      required: ['z', 'b'],
    };
    const manifest = toolToManifest(toolOf({ description: 'List issues', inputSchema }), { ...server, id: 'github' });
    expect(manifest).toMatchObject({
      id: 'mcp.github.list_issues',
      version: '1.0.0',
      description: 'List issues',
      inputSchema,
      provider: { type: 'mcp', serverUrl: 'https://api.github.com/mcp', toolName: 'list_issues' },
      domains: ['s', 's.issues'],
      categories: ['crud.read'],
    });
    expect(manifest.outputSchema).toBeUndefined();
    expect(manifest.parameters.map(({ name, required }) => `${name}${required ? '' : '?'}`)).toEqual([
      'b',
      'z',
      'a?',
      'state?',
    ]);
    expect(Manifest.parse(manifest)).toEqual(manifest);
  });

  it('SCH-2 no secret of the configuration is written', () => {
    const env = { TOKEN: 'tok-123456789', HOST: 'secret-host-value' };
    const stdio = serverOf(
      {
        command: 'npx',
        args: [
          '-y',
          'pkg',
          '--api-key',
          'plain-secret-1',
          '--token=plain-secret-2',
          '${TOKEN}',
          '${X:-fallback-secret}',
          'https://u:plain-secret-3@h/x?k=plain-secret-4',
          'sp ace',
        ],
        env: { KEY: 'plain-secret-5' },
      },
      env,
    );
    const http = serverOf(
      {
        url: 'https://user:plain-secret-6@${HOST}/mcp/abcdefghij0123456789xyz?key=plain-secret-7&x=1#plain-secret-8',
        headers: { Authorization: 'Bearer plain-secret-9' },
      },
      env,
    );
    for (const { server } of [stdio, http]) {
      const text = rtfsFile(toolToManifest(toolOf({}), server));
      expect(text).not.toMatch(/plain-secret|tok-1234|fallback-secret|secret-host|abcdefghij|\?key/);
    }
    expect(toolToManifest(toolOf({}), stdio.server).provider).toMatchObject({
      command: 'npx',
      args: [
        '-y',
        'pkg',
        '--api-key',
        '***',
        '--token=***',
        '${TOKEN}',
        expect.anything(),
        'https://***@h/x?k=***',
        'sp ace',
      ],
    });
    expect(toolToManifest(toolOf({}), http.server).provider).toEqual({
      type: 'mcp',
      serverUrl: 'https://${HOST}/mcp/***',
      toolName: 'list_issues',
    });
  });

  it('SCH-2 a secret that the server repeats in its own texts is hidden, and the types stay', () => {
    const mask = createSecretMask();
    mask.add(['hunter2-secret', 'string']);
    const tool = toolOf({
      description: 'Uses hunter2-secret',
      inputSchema: {
        type: 'object',
        properties: {
          string: {
            type: 'string',
            default: 'hunter2-secret',
            description: 'is hunter2-secret',
            enum: ['hunter2-secret', 'b'],
          },
        },
        required: ['string'],
      },
    });
    const { server } = serverOf({ command: 'x' });
    const manifest = toolToManifest(tool, server, (text) => mask.hide(text));
    expect(JSON.stringify(manifest)).not.toContain('hunter2');
    expect(rtfsFile(manifest, 'standard')).toContain('[:string :string]');
  });

  it('SCH-2 command lines are taken apart as they were put together', () => {
    const words = fc.array(
      anyText({ minLength: 1, maxLength: 8 }).filter(
        (text) =>
          printable(text) === text &&
          !/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029=:@]/u.test(text) &&
          !text.startsWith('-') &&
          !text.includes('$'),
      ),
      { minLength: 1, maxLength: 4 },
    );
    fc.assert(
      fc.property(words, ([first = 'x', ...args]) => {
        const command = first.trim() === '' ? 'x' : first;
        expect(splitTarget(serverOf({ command, args }).server.shown.target)).toEqual([command, ...args]);
      }),
    );
    fc.assert(fc.property(anyText(), (text) => splitTarget(text).length >= 0));
  });

  it.each([
    ['https://a.b/c?d=e#f', 'https://a.b/c'],
    ['https://u:p@a.b/c', 'https://a.b/c'],
    ['https://u:p@w@a.b', 'https://a.b'],
    ['https://a.b/c@d', 'https://a.b/c@d'],
    ['u:p@a.b/c', 'a.b/c'],
    ['', ''],
  ])('SCH-2 %j is written as %j', (url, bare) => {
    expect(bareUrl(url)).toBe(bare);
  });
});

describe('toolSignature', () => {
  it('NEG-8 a tool as name, description, parameters and returns', () => {
    const inputSchema = { type: 'object', properties: { fire_id: { type: 'string' } }, required: ['fire_id'] };
    const outputSchema = { type: 'object', properties: { data: { type: 'array' } } };
    expect(toolSignature(toolOf({ description: 'Fires', inputSchema, outputSchema }))).toEqual({
      tool_name: 'list_issues',
      description: 'Fires',
      parameters: inputSchema,
      returns: outputSchema,
    });
    expect(toolSignature(toolOf({ inputSchema: 7 }))).toEqual({
      tool_name: 'list_issues',
      description: 'List issues',
      parameters: { type: 'object' },
      returns: {},
    });
  });
});
