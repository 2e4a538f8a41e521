import { describe, expect, it } from 'vitest';
import { openOfflineGateway } from '../../../../test/support/offline-gateway.js';
import { compilePatterns } from '../../../kernel/patterns/pattern.js';
import { createListItems } from './list-items.js';
import { createExposedNames } from './exposed-names.js';

const NOTES = {
  id: 'notes',
  tools: [
    { name: 'read_note', description: 'Reads a note.', inputSchema: { type: 'object' } },
    { name: 'x'.repeat(60), description: 'Has a long name.', inputSchema: { type: 'object' } },
  ],
  facts: {
    resources: [
      { uri: 'file:///shared', name: 'shared' },
      { uri: 'file:///own', name: 'own' },
    ],
    resourceTemplates: [{ uriTemplate: 'file:///{name}', name: 'any' }],
    prompts: [{ name: 'sum up' }, { name: 7 }],
  },
};
const MORE = { id: 'more', tools: [], facts: { resources: [{ uri: 'file:///shared', name: 'shared' }] } };

describe('what servers have under names of ours', () => {
  it('META-5 META-6 each name leads back to its server, also one that had to be shortened', async () => {
    const { gateway } = await openOfflineGateway([NOTES, MORE]);
    await gateway.ready();
    const exposedNames = createExposedNames(gateway, createListItems());
    const names = [...(await exposedNames.tools()).keys()];
    expect(names).toContain('notes__read_note');
    for (const name of names) expect(await exposedNames.tool(name)).toMatchObject({ server: 'notes' });
    const [prompt, ...others] = await exposedNames.prompts();
    expect(others).toEqual([]);
    expect(await exposedNames.prompt(String(prompt!['name']))).toEqual({ server: 'notes', name: 'sum up' });
    const resources = await exposedNames.resources();
    expect(await Promise.all(resources.map(({ uri }) => exposedNames.resource(String(uri))))).toEqual([
      { server: 'more', uri: 'file:///shared' },
      { server: 'notes', uri: 'file:///shared' },
      { server: 'notes', uri: 'file:///own' },
    ]);
    expect((await exposedNames.resourceTemplates())[0]).toMatchObject({
      uriTemplate: expect.stringContaining('notes') as string,
    });
    await gateway.close({ drainMs: 0 });
  });

  it('A52 META-6 a link leads to the server that gave it, whatever others list', async () => {
    const { gateway } = await openOfflineGateway([NOTES, MORE]);
    await gateway.ready();
    const exposedNames = createExposedNames(gateway, createListItems());
    const notFound = { upstream: { code: -32_602 } };
    const seek = (uri: string) => expect(exposedNames.resource(uri)).rejects;
    expect(await exposedNames.resource('file:///own')).toEqual({ server: 'notes', uri: 'file:///own' });
    await seek('file:///shared').toMatchObject(notFound);
    const link = (uri: string) => ({
      content: [null, { type: 'text', text: 'x' }, { type: 'resource_link', uri, name: 'n' }],
    });
    expect(await exposedNames.noteLinks('more', link('file:///own'))).toEqual(link('file:///own'));
    expect(await exposedNames.resource('file:///own')).toEqual({ server: 'more', uri: 'file:///own' });
    await exposedNames.noteLinks('more', {
      messages: [{ role: 'user', content: { type: 'resource', resource: { uri: 'x://1' } } }, 7],
    });
    expect(await exposedNames.resource('x://1')).toEqual({ server: 'more', uri: 'x://1' });
    // A link that several servers gave leads to none of them.
    await exposedNames.noteLinks('notes', link('x://1'));
    await exposedNames.noteLinks('more', link('x://1'));
    await seek('x://1').toMatchObject(notFound);
    await seek('file:///etc/passwd').toMatchObject(notFound);
    await expect(exposedNames.prompt('nobody')).rejects.toThrow('There is no prompt "nobody".');
    await gateway.close({ drainMs: 0 });
  });

  it('A52 A28 remembered links are bounded, and the oldest give way', async () => {
    const { gateway } = await openOfflineGateway([NOTES]);
    await gateway.ready();
    const exposedNames = createExposedNames(gateway, createListItems());
    const content = Array.from({ length: 5000 }, (_, n) => ({ type: 'resource_link', uri: `x://${n}` }));
    await exposedNames.noteLinks('notes', { content });
    await expect(exposedNames.resource('x://0')).rejects.toThrow('Resource not found');
    expect(await exposedNames.resource('x://4999')).toEqual({ server: 'notes', uri: 'x://4999' });
    await gateway.close({ drainMs: 0 });
  });

  it('A52 A43 a server that gives many links has no link of another forgotten', async () => {
    const { gateway } = await openOfflineGateway([NOTES, MORE]);
    await gateway.ready();
    const exposedNames = createExposedNames(gateway, createListItems());
    const link = (uri: string) => ({ type: 'resource_link', uri });
    await exposedNames.noteLinks('more', { content: [link('file:///own'), link('x://shared')] });
    await exposedNames.noteLinks('notes', { content: [link('x://shared')] });
    await exposedNames.noteLinks('notes', { content: Array.from({ length: 9000 }, (_, n) => link(`x://${n}`)) });
    // Otherwise it would now be read from "notes", which lists it.
    expect(await exposedNames.resource('file:///own')).toEqual({ server: 'more', uri: 'file:///own' });
    await expect(exposedNames.resource('x://shared')).rejects.toThrow('Resource not found');
    await gateway.close({ drainMs: 0 });
  });

  it('META-5 where only pinned tools are offered, no other is reached by its name', async () => {
    const { gateway } = await openOfflineGateway([NOTES]);
    await gateway.ready();
    const exposedNames = createExposedNames(gateway, createListItems(), compilePatterns(['read_*']));
    expect([...(await exposedNames.tools()).keys()]).toEqual(['notes__read_note']);
    expect(await exposedNames.tool('notes__read_note')).toEqual({ server: 'notes', tool: 'read_note' });
    expect(await exposedNames.tool('notes__delete_note')).toBeUndefined();
    await gateway.close({ drainMs: 0 });
  });
});
