import type { Traffic } from '../../../gateway/index.js';
import type { HostSurface } from './host-surface.js';

/** Answers a request of a host of this name, and records both, while the traffic is watched (STUDIO-3). */
export async function recordTraffic(
  traffic: Traffic,
  name: string,
  answer: HostSurface['answer'],
  ...[method, params, exchange]: Parameters<HostSurface['answer']>
): ReturnType<HostSurface['answer']> {
  const { host, principal, traceId } = exchange;
  const row = traffic.begin({
    method,
    params,
    principal,
    route: 'mcp',
    host: { ...(name !== '' && { name }), era: host.era },
    ...(traceId !== undefined && { traceId }),
  });
  try {
    const result = await answer(method, params, { ...exchange, host: row.watch(host) });
    row.succeed(result);
    return result;
  } catch (thrown) {
    row.fail(thrown);
    throw thrown;
  }
}
