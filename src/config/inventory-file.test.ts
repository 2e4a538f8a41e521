import { rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../test/support/fixture.js';
import { createInventoryFile } from './inventory-file.js';

async function place(name: string, text?: string): Promise<string> {
  const path = join(await temporaryDirectory(), name);
  if (text !== undefined) await writeFile(path, text);
  return path;
}

const read = async (name: string, text?: string) => createInventoryFile(await place(name, text), {}, true).read();

describe('the inventory file', () => {
  it('REG-4 CFG-7 is read as YAML, JSON or TOML', async () => {
    const entry = { id: 'a', base_url: 'http://a.example' };
    expect(await read('tools.yaml', '- id: a\n  base_url: http://a.example\n')).toEqual({ value: [entry] });
    expect(await read('tools.json', JSON.stringify({ tools: [entry] }))).toEqual({ value: { tools: [entry] } });
    expect(await read('tools.toml', '[[tools]]\nid = "a"\nbase_url = "http://a.example"\n')).toEqual({
      value: { tools: [entry] },
    });
    expect(await read('tools.yaml', '')).toEqual({ value: {} });
  });

  it('REG-4 A30 what cannot be read says why, and code is never run', async () => {
    expect((await read('none.yaml')).missing).toMatch(/none\.yaml does not exist/);
    expect((await read('bad.yaml', 'a: [')).missing).toMatch(/bad\.yaml.*not valid YAML/);
    expect((await read('bad.yaml', 'a: !!js/function "x"')).missing).toMatch(/not valid YAML/);
    expect((await read('evil.ts', 'throw new Error("ran")')).missing).toMatch(/is code/);
    expect((await read('odd.txt', 'x')).missing).toMatch(/ending/);
    expect((await read('big.yaml', `x: ${'x'.repeat(5_000_000)}`)).missing).toMatch(/larger than/);
  });

  it('REG-6 a change is seen, and the same file is parsed once', async () => {
    const path = await place('tools.yaml', '- id: a\n');
    const file = createInventoryFile(path, { TOKEN: 'secret-token' }, true);
    const first = await file.read();
    expect((await file.read()).value).toBe(first.value);
    await writeFile(path, '- id: bb\n');
    await utimes(path, 1, 1);
    expect(await file.read()).toEqual({ value: [{ id: 'bb' }] });
    await rm(path);
    expect((await file.read()).missing).toContain('does not exist');
    expect(file.expand('Bearer ${TOKEN}')).toMatchObject({ text: 'Bearer secret-token', values: ['secret-token'] });
    expect(file.expand('${NONE}').problems).toHaveLength(1);
  });
});
