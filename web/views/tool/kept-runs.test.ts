import { expect, it } from 'vitest';
import { forgetAnswers } from '../../app/resource.js';
import { isAnyRunning, keptRun } from './kept-runs.js';

it('STUDIO-1 the last call of a tool and its arguments stay when another view is opened, and go with the session', () => {
  const first = keptRun('files:read');
  first.value = { path: '/a' };
  expect(keptRun('files:read')).toBe(first);
  // One that runs outlives any number of others.
  first.run.state.value = { step: 'running', startedAt: 0, progress: [], asks: [] };
  for (let each = 0; each < 50; each += 1) keptRun(`files:${each}`);
  expect(keptRun('files:read')).toBe(first);
  expect(isAnyRunning()).toBe(true);
  const idle = keptRun('files:0');
  expect(idle.value).toBeUndefined();
  forgetAnswers();
  expect([isAnyRunning(), first.run.state.value.step]).toEqual([false, 'cancelled']);
  expect(keptRun('files:read')).not.toBe(first);
});
