import { afterEach, expect, it, vi } from 'vitest';
import { api } from '../../api/client.js';
import { reconnects } from '../../app/live.js';
import { createSearch } from './search-state.js';

afterEach(() => vi.restoreAllMocks());

it('STUDIO-2 a search that failed while toolscout was away is made again when it is back', async () => {
  const found = { hits: [] } as never;
  const asked = vi
    .spyOn(api, 'search')
    .mockRejectedValueOnce(new TypeError('Failed to fetch'))
    .mockResolvedValue(found);
  const search = createSearch();
  const stop = search.followReconnects();
  // Nothing is asked before a person typed something.
  reconnects.value += 1;
  expect(asked).not.toHaveBeenCalled();
  search.query.value = 'mail';
  search.ask();
  await vi.waitFor(() => expect(search.error.value?.isOffline).toBe(true));
  reconnects.value += 1;
  await vi.waitFor(() => expect(search.answer.value).toBe(found));
  expect(search.error.value).toBeUndefined();
  stop();
  reconnects.value += 1;
  expect(asked).toHaveBeenCalledTimes(2);
});
