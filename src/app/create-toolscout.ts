import { publish, type Toolscout } from '../gateway/index.js';
import { openGateway, type ToolscoutOptions } from './open-gateway.js';

/** Opens toolscout: search, calls and everything else as one object. Close it when done. */
export async function createToolscout(options: ToolscoutOptions = {}): Promise<Toolscout> {
  return publish(await openGateway(options));
}
