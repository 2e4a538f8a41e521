import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { CLI, workplace } from '../support/toolscout.js';
import { STARTS_PROCESSES } from '../support/patience.js';

it(
  'CFG-5 a script that starts toolscout with the same configuration is refused by the toolscout it starts',
  STARTS_PROCESSES,
  async () => {
    const place = await workplace({});
    const script = join(place.folder, 'notes');
    const line = [process.execPath, CLI, 'serve', '--stdio', '--config', place.configFile].map((word) => `'${word}'`);
    await writeFile(script, `#!/bin/sh\nexec ${line.join(' ')}\n`);
    await chmod(script, 0o755);
    await place.write({ retryPolicy: { maxRetries: 0 }, servers: { notes: { command: script } } });
    const { stdout, stderr } = await place.run('discover', 'notes', '--json');
    expect(`${stdout}${stderr}`).toContain('a toolscout with the same configuration as the one that started it');
  },
);
