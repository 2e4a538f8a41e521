import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from '../support/toolscout.js';

describe('toolscout config', () => {
  it('CLI-1 CFG-2 config show prints what is in force and makes no store', async () => {
    const place = await workplace({ timeout: 1234, servers: { a: { command: 'x', timeout: 5 } } });
    const { code, stdout, stderr } = await place.run('config', 'show', '--json');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({
      source: place.configFile,
      timeout: 1234,
      store: 'sqlite',
      servers: [{ id: 'a', timeout: 5 }],
    });
    expect(existsSync(join(place.folder, 'state'))).toBe(false);
  });
});
