import type { Traffic } from '../../../gateway/index.js';
import type { HostSurface } from './host-surface.js';

/** A surface whose requests are recorded while somebody looks at the traffic (STUDIO-3). Otherwise each of them costs one look at a flag. */
export function watchSurface(surface: HostSurface, traffic: Traffic, name: string): HostSurface {
  const { answer } = surface;
  const record: HostSurface['answer'] = async (method, params, exchange) => {
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
  };
  return Object.assign(surface, {
    answer: ((method, params, exchange) =>
      traffic.isOn ? record(method, params, exchange) : answer(method, params, exchange)) as HostSurface['answer'],
  });
}
