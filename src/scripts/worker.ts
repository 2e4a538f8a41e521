import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../kernel/clock.js';
import { createSandboxFactory, SandboxBreach, type Rest, type Sandbox, type SandboxFactory } from './sandbox.js';
import type { WorkerMessage, WorkerRequest } from './worker-messages.js';

/** One worker runs one script at a time; each in a VM of its own. */
function serve(factory: SandboxFactory, post: (message: WorkerMessage, transfer?: ArrayBuffer[]) => void) {
  let sandbox: Sandbox | undefined;
  const rested = (rest: Rest): void => post({ type: 'rest', ...rest });
  const discard = (): void => {
    sandbox?.dispose();
    sandbox = undefined;
  };
  const obey = async (request: WorkerRequest): Promise<void> => {
    switch (request.type) {
      case 'start':
        discard();
        sandbox = await factory.create(request.bounds, request.now);
        return rested(sandbox.start(request));
      case 'restore':
        discard();
        sandbox = await factory.restore(request.image, request.bounds, request.now);
        return rested(sandbox.rest());
      case 'answer':
        if (sandbox) rested(sandbox.answer(request));
        return;
      case 'suspend': {
        if (!sandbox) return;
        const image = sandbox.image();
        discard();
        return post({ type: 'suspended', image });
      }
      case 'discard':
        return discard();
    }
  };
  let tail = Promise.resolve();
  return (request: WorkerRequest): void => {
    tail = tail
      .then(() => obey(request))
      .catch((thrown: unknown) => {
        const breach = thrown instanceof SandboxBreach ? thrown.breach : 'engine';
        post({ type: 'breach', breach, detail: thrown instanceof Error ? thrown.message : String(thrown) });
      });
  };
}

async function main(): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error('This file runs in a worker thread.');
  const wasm = createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm');
  const obey = serve(await createSandboxFactory(readFileSync(wasm), systemClock), (message) =>
    port.postMessage(message),
  );
  port.on('message', obey);
  port.postMessage({ type: 'ready' } satisfies WorkerMessage);
}

await main();
