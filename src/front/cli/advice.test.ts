import { describe, expect, it } from 'vitest';
import { META_NAMES } from '../mcp/meta-tools.js';
import { ERROR_TABLE, type ErrorCode } from '../../kernel/errors.js';
import { adviceFor } from './advice.js';

describe('advice', () => {
  it.each(Object.keys(ERROR_TABLE) as ErrorCode[])(
    'CLI-1 %s: a person is not told to call a tool of agents',
    (code) => {
      const advice = adviceFor({ code, suggestion: ERROR_TABLE[code].suggestion });
      expect([...META_NAMES].filter((name) => advice.includes(name))).toEqual([]);
    },
  );

  it('EXEC-3 what a server or a closer look suggests is said as it is', () => {
    expect(adviceFor({ code: 'TOOL_NOT_FOUND', suggestion: 'Ask the operator.' })).toBe('Ask the operator.');
  });
});
