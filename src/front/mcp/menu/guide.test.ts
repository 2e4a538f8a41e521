import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/fixture.js';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import type { Gateway } from '../../../gateway/index.js';
import type { JsonObject } from '../../../kernel/json.js';
import type { ConfigInput } from '../../../model/config.js';
import { createGuide, skillIn } from './guide.js';

const tools = (count: number): JsonObject[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `read_${index}`,
    description: `Reads note ${index}.`,
    inputSchema: { type: 'object' },
  }));

async function open(config: ConfigInput = {}): Promise<Gateway> {
  const servers = [
    { id: 'many-notes', tools: tools(103), facts: { instructions: 'Ask for one note at a time.' } },
    { id: 'few', tools: tools(1) },
  ];
  const { gateway } = await openOfflineGateway(servers, config);
  await gateway.ready();
  return gateway;
}

const textOf = (read: JsonObject | undefined): string => {
  const [content] = read!['contents'] as Array<{ text: string }>;
  return content!.text;
};

describe('the guide', () => {
  it('META-7 has a page for each server: what it says of itself and its tools, of many only the first', async () => {
    const gateway = await open();
    const guide = createGuide(gateway, 'meta');
    const uris = (await guide.resources()).map(({ uri }) => uri);
    expect(uris).toEqual([
      'toolscout:guide',
      'toolscout:quick-reference',
      'toolscout:server/many-notes',
      'toolscout:server/few',
    ]);
    const many = textOf(await guide.read('toolscout:server/many-notes'));
    expect(many).toMatch(/^# many-notes\n/);
    expect(many).toContain('## What the server says about itself\n\nAsk for one note at a time.');
    expect(many.match(/^- `read_\d+`: /gm)).toHaveLength(100);
    expect(many).toContain('… and 3 more: list_tools names them.');
    const few = textOf(await guide.read('toolscout:server/few'));
    expect(few).toContain('- `read_0`: Reads note 0');
    expect(few).not.toMatch(/says about itself|more:/);
    for (const uri of ['toolscout:server/nobody', 'toolscout:server/%E0%A4%A', 'toolscout:skill/nobody']) {
      await expect(guide.read(uri)).rejects.toMatchObject({ upstream: { code: -32_602 } });
    }
    expect(guide.read('file:///etc/passwd')).toBeUndefined();
    expect(guide.prompt('nobody')).toBeUndefined();
    await gateway.close({ drainMs: 0 });
  });

  it('META-7 names the tools of its mode, and no others', async () => {
    const gateway = await open({ splitReads: true, scripts: { enabled: true } });
    const rows = async (mode: Parameters<typeof createGuide>[1]): Promise<string[]> => {
      const page = textOf(await createGuide(gateway, mode).read('toolscout:quick-reference'));
      return [...page.matchAll(/^\| (\w+) \| /gm)].map(([, name]) => name!).filter((name) => name !== 'tool');
    };
    expect(await rows('code')).toEqual(['search_tools', 'get_tool_details', 'run_script']);
    expect(await rows('meta')).toEqual(expect.arrayContaining(['query_tool', 'execute_tool', 'run_script']));
    expect(await rows('passthrough')).not.toContain('run_script');
    const plain = await open();
    const reference = textOf(await createGuide(plain, 'meta').read('toolscout:quick-reference'));
    expect(reference).not.toMatch(/query_tool|run_script/);
    const modes = ['meta', 'hybrid', 'passthrough', 'code'] as const;
    const prompts = modes.map((mode) => JSON.stringify(createGuide(plain, mode).prompt('how_to_use_toolscout')));
    expect(new Set(prompts).size).toBe(4);
    expect(prompts[3]).not.toContain('list_mcp_servers');
    for (const each of [gateway, plain]) await each.close({ drainMs: 0 });
  });

  it('META-7 NEG-4 a skill is a resource; a caller who may not see skills has none', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'talker'));
    await writeFile(join(directory, 'talker', 'skill.md'), '# Talker\n\n## Capabilities\n\n- `talk:sing`\n');
    const gateway = await open({ skills: { directories: [directory] } });
    const guide = createGuide(gateway, 'meta');
    expect((await guide.resources()).at(-1)).toMatchObject({ uri: 'toolscout:skill/talker' });
    expect(guide.resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toContain('toolscout:skill/{id}');
    expect(JSON.parse(textOf(await guide.read('toolscout:skill/talker')))).toMatchObject({
      id: 'talker',
      capabilities: ['talk:sing'],
      missing: [{ capability: 'talk:sing' }],
    });
    const narrow = {
      principal: 'some',
      scopes: new Set(['read'] as const),
      isLimited: true,
      sees: (id: string): boolean => id === 'few',
    };
    const seen = createGuide(gateway.as(narrow), 'meta');
    expect((await seen.resources()).map(({ uri }) => uri)).not.toContain('toolscout:skill/talker');
    await expect(seen.read('toolscout:skill/talker')).rejects.toMatchObject({ upstream: { code: -32_602 } });
    expect([skillIn('toolscout:skill/a%20b'), skillIn('toolscout:skill/%'), skillIn('toolscout:server/a')]).toEqual([
      'a b',
      '%',
      undefined,
    ]);
    await gateway.close({ drainMs: 0 });
  });
});
