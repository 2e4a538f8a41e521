import { SandboxBreach, type Rest, type Sandbox, type SandboxFactory } from './sandbox.js';
import type { WorkerMessage, WorkerRequest } from './worker-messages.js';

/** Obeys requests one after the other: one script at a time, each in a VM of its own. */
export function serveSandboxes(
  factory: SandboxFactory,
  post: (message: WorkerMessage) => void,
): (request: WorkerRequest) => Promise<void> {
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
  return (request) => {
    tail = tail
      .then(() => obey(request))
      .catch((thrown: unknown) => {
        const detail = thrown instanceof Error ? thrown.message : String(thrown);
        const { breach, about } = thrown instanceof SandboxBreach ? thrown : { breach: 'engine' as const, about: {} };
        post({ type: 'breach', breach, detail, ...about });
      });
    return tail;
  };
}
