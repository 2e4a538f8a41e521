import { expect, it } from 'vitest';
import { ApiError, asApiError } from '../api/problem.js';
import { isPassing } from './resource.js';

it('STUDIO-2 what was known stays while toolscout is away or fails, not when it refuses', () => {
  expect(isPassing(asApiError(new TypeError('Failed to fetch')))).toBe(true);
  expect(isPassing(new ApiError(503, {}))).toBe(true);
  for (const status of [401, 403, 404, 422]) expect(isPassing(new ApiError(status, {}))).toBe(false);
});
