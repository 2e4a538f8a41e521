// A crowd of clients with equal request ids calls at once through one toolscout over HTTP: does each get its own
// answers, and how many a second? -- --calls=100000 --clients=200 --modern=50
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { conclude, printTable } from '../support/report.js';
import { runCrowd } from './clients.js';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '100000' },
    clients: { type: 'string', default: '200' },
    modern: { type: 'string', default: '50' },
  },
});
const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'toolscout-bench-'));
const config = join(folder, 'toolscout.config.json');
const free = { requestsPerSecond: 1_000_000, burstSize: 1_000_000 };
const echo = { command: process.execPath, args: [path('../latency/echo-server.mjs')], rateLimit: free };
writeFileSync(config, JSON.stringify({ servers: { echo } }));
const flags = ['--port', '0', '--log-level', 'warn', '--config', config, '--state-dir', join(folder, 'state')];
const child = spawn(process.execPath, [path('../../dist/cli.js'), 'serve', ...flags], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      const found = /MCP endpoint\s+(http:\S+)/.exec(output)?.[1];
      if (found) resolve(found);
    });
    child.once('exit', (code) => reject(new Error(`toolscout ended with ${code}: ${output}`)));
  });
  const [calls, clients, modern] = [Number(values.calls), Number(values.clients), Number(values.modern)];
  const outcome = await runCrowd({ url, clients, modern, calls, server: 'echo', tool: 'echo' });
  const perSecond = Math.round(outcome.matched / outcome.seconds);
  printTable(
    'Many clients with equal request ids',
    ['clients', 'with session', 'calls', 'own answer', 'wrong', 'seconds', 'calls/s'],
    [
      [
        clients,
        outcome.sessions,
        calls,
        outcome.matched,
        outcome.wrong.length,
        outcome.seconds.toFixed(1),
        perSecond,
      ].map(String),
    ],
  );
  for (const each of outcome.wrong) console.log(each);
  conclude('many-clients', { clients, modern, calls, matched: outcome.matched, seconds: outcome.seconds, perSecond }, [
    { name: 'wrong answers', value: outcome.wrong.length, most: 0 },
    { name: 'own answers', value: outcome.matched, least: calls },
  ]);
} finally {
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
  rmSync(folder, { recursive: true, force: true });
}
