// A typed config with rules. Use it:    npx toolscout tools filesystem --config examples/rules.config.ts
// See what remains of three servers:    npx tsx examples/rules.config.ts
import { fileURLToPath } from 'node:url';
// In a project of your own: import { defineConfig } from 'toolscout';
import { defineConfig } from '../src/config/define-config.js';

const program = (name: string): string =>
  fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

const config = defineConfig({
  servers: {
    everything: { command: 'node', args: [program('everything'), 'stdio'] },
    filesystem: { command: 'node', args: [program('filesystem'), '.'], timeoutMs: 10_000, tags: ['local'] },
    memory: {
      command: 'node',
      args: [program('memory')],
      env: { MEMORY_FILE_PATH: '${MEMORY_FILE:-/tmp/graph.jsonl}' },
    },
  },
  toolRules: [
    // The first rule with "enabled" that matches decides, so what must never be offered stands first.
    { pattern: '/delete|move/i', enabled: false },
    // One rule that enables makes the rest an allow-list: what no rule enables is not offered.
    { pattern: ['read_*', 'list_*', 'search_*'], enabled: true, tags: ['read-only'] },
    { pattern: 'everything:{echo,get-sum}', enabled: true },
    // A rule without "enabled" only adds its tags.
    { pattern: '*', server: 'memory', tags: ['graph'] },
  ],
});

// oxlint-disable-next-line import/no-default-export -- a config file is its default export.
export default config;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Imported here, so that reading this config does not load the whole library from source.
  const { createToolscout } = await import('../src/index.js');
  const toolscout = await createToolscout({ config, stateDir: 'memory' });
  for (const { id } of await toolscout.servers.list()) {
    for (const { name, tags } of await toolscout.tools.list(id)) console.log(`${id}:${name} [${tags.join(', ')}]`);
  }
  console.log((await toolscout.why('filesystem', 'move_file')).reason);
  console.log((await toolscout.why('filesystem', 'write_file')).reason);
  await toolscout.close();
}
