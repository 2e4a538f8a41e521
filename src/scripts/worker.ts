import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.js';
import { createSandboxFactory } from './sandbox.js';
import type { WorkerMessage } from './worker-messages.js';
import { serveSandboxes } from './worker-service.js';

async function main(): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('This file runs in a worker thread.');
  const wasm = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm');
  const obey = serveSandboxes(await createSandboxFactory(readFileSync(wasm), systemClock), (message) =>
    port.postMessage(message),
  );
  port.on('message', obey);
  port.postMessage({ type: 'ready' } satisfies WorkerMessage);
}

await main();
