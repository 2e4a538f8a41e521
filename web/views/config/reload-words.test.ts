import { describe, expect, it } from 'vitest';
import type { ReloadReport } from '../../api/types.js';
import { reportText } from './reload-words.js';

const same: ReloadReport = {
  changed: false,
  added: [],
  removed: [],
  reconnected: [],
  unchanged: 2,
  needsRestart: [],
} as unknown as ReloadReport;

describe('what reading the config again has changed', () => {
  it.each([
    [{}, 'The config was read again. Nothing has changed.'],
    [{ changed: true }, 'The new config is in force; 2 servers unchanged.'],
    [
      { changed: true, added: ['a'], removed: ['b', 'c'], reconnected: ['d'], unchanged: 1 },
      'The new config is in force: added a; removed b, c; reconnected d; 1 server unchanged.',
    ],
    [
      { changed: true, needsRestart: ['http.port'] },
      'The new config is in force; 2 servers unchanged. http.port takes effect after a restart.',
    ],
  ])('STUDIO-8 tells it, and what needs a restart: %j', (change, text) => {
    expect(reportText({ ...same, ...change })).toBe(text);
  });
});
