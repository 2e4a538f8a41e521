import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { ConfigInput } from '../../../src/model/config.js';
import { lineMatching, workplace, type Workplace } from '../../support/toolscout.js';

/** A toolscout that serves Studio. */
export interface Studio extends Workplace {
  readonly url: string;
  /** Kills it. */
  stop(): Promise<void>;
  /** Starts it again at the same address. */
  restart(): Promise<void>;
}

/** Starts toolscout with this config; by default whoever opens the page may change things. */
export async function openStudio(config: ConfigInput, flags: readonly string[] = ['--admin']): Promise<Studio> {
  const place = await workplace(config);
  let child: ChildProcess;
  const serve = async (port: string): Promise<string> => {
    child = place.start('serve', '--port', port, ...flags);
    const [, bound = ''] = await lineMatching(child, /127\.0\.0\.1:(\d+)/);
    return bound;
  };
  const port = await serve('0');
  return {
    ...place,
    url: `http://127.0.0.1:${port}/`,
    async stop() {
      const gone = once(child, 'close');
      child.kill('SIGKILL');
      await gone;
    },
    restart: async () => void (await serve(port)),
  };
}
