import { retryDelay } from '../../app/live.js';
import type { TrafficRow } from '../../api/types.js';

/** Hears every row, new and changed, until the returned function is called; comes back after a restart of the server. */
export function followTraffic(onRow: (row: TrafficRow) => void, onState: (isLive: boolean) => void): () => void {
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let attempt = 0;
  const open = (): void => {
    source = new EventSource('/v1/traffic');
    source.addEventListener('hello', () => {
      attempt = 0;
      onState(true);
    });
    source.addEventListener('row', (event: MessageEvent<string>) => onRow(JSON.parse(event.data) as TrafficRow));
    source.onerror = () => {
      source?.close();
      onState(false);
      timer = setTimeout(open, retryDelay(attempt));
      attempt += 1;
    };
  };
  open();
  return () => {
    source?.close();
    clearTimeout(timer);
  };
}
