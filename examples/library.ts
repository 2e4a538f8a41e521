// toolscout as a library: search, read details, run a tool, follow a slow one. Run: npx tsx examples/library.ts
import { fileURLToPath } from 'node:url';
// In a project of your own: import { createToolscout } from 'toolscout';
import { createToolscout } from '../src/index.js';

const program = (name: string): string =>
  fileURLToPath(new URL(`../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));
const folder = fileURLToPath(new URL('..', import.meta.url));

const toolscout = await createToolscout({
  stateDir: 'memory', // keep nothing; leave it out to remember tools between starts
  config: {
    servers: {
      everything: { command: 'node', args: [program('everything'), 'stdio'] },
      filesystem: { command: 'node', args: [program('filesystem'), folder] },
    },
    toolRules: [{ pattern: ['write_*', 'edit_*', 'move_*', 'create_*'], server: 'filesystem', enabled: false }],
  },
});

try {
  await toolscout.servers.discover();

  const { hits } = await toolscout.search('read a text file', { limit: 3 });
  for (const { server, tool, summary } of hits) console.log(`found    ${server}:${tool}  ${summary}`);

  const { lean } = await toolscout.details('everything', 'get-sum');
  console.log(`details  ${JSON.stringify(lean['inputSchema'])}`);

  const sum = await toolscout.call('everything', 'get-sum', { a: 2, b: 3 });
  console.log(`result   ${JSON.stringify(sum.result?.['content'])}`);

  // A refusal is an answer, not an exception.
  const refused = await toolscout.call('filesystem', 'write_file', { path: 'x', content: 'y' });
  console.log(`refused  ${refused.error?.code}: ${refused.error?.message}`);

  const slow = toolscout.stream('everything', 'trigger-long-running-operation', { duration: 1, steps: 2 });
  for await (const event of slow) {
    if (event.type === 'progress') console.log(`progress ${event.progress.progress}/${event.progress.total}`);
    else console.log(`done     ${event.result.success}`);
  }
} finally {
  await toolscout.close();
}
