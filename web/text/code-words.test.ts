import { expect, it } from 'vitest';
import { codeText, outcomeWord } from './code-words.js';

it('STUDIO-1 has a sentence for the codes with which calls end', () => {
  for (const code of ['TOOL_DISABLED', 'TOOL_CHANGED', 'CIRCUIT_OPEN', 'TOOL_EXECUTION_ERROR', 'CONFIRMATION_REJECTED'])
    expect(codeText(code)).toMatch(/^[A-Zt].*\.$/);
  expect([codeText('constructor'), codeText('OF_ANOTHER_VERSION')]).toEqual([undefined, undefined]);
});

it('STUDIO-1 tells what was cancelled from what failed', () => {
  expect([
    outcomeWord('failure', 'CANCELLED'),
    outcomeWord('failure', 'TOOL_EXECUTION_ERROR'),
    outcomeWord('refused'),
    outcomeWord('open'),
  ]).toEqual(['cancelled', 'failure', 'refused', 'running']);
});
