import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.js';
import { isObject } from '../../kernel/json.js';
import { dial } from './dial.js';
import { sharedPlace } from './place.js';
import type { RunningService } from '../../front/cli/context.js';

function keysIn(stateDirectory: string): string[] {
  const folder = join(stateDirectory, 'shared');
  // Without the folder there is no service; the store reports a state directory that cannot be used.
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder);
  return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
}

/**
 * Asks every shared service of a state directory for its state, or requests each to stop; dead services do not answer.
 */
export async function askServices(
  stateDirectory: string,
  kind: 'status' | 'stop',
  clock: Clock,
): Promise<RunningService[]> {
  const answers = await Promise.all(
    keysIn(stateDirectory).map(async (key) => {
      const dialled = await dial(sharedPlace(stateDirectory, key), { kind }, clock);
      dialled?.socket.destroy();
      const status = dialled?.answer['status'];
      return isObject(status) ? [status as unknown as RunningService] : [];
    }),
  );
  return answers.flat();
}
