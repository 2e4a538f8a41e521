import { expect, it } from 'vitest';
import { codeText, hasTool, outcomeOfCode, outcomeWord, placeOfCode } from './code-words.js';

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
    outcomeWord('waiting', 'CONFIRMATION_REQUIRED'),
    outcomeWord('open'),
  ]).toEqual(['cancelled', 'failure', 'refused', 'needs a yes', 'running']);
});

it('STUDIO-1 SEC-11 a call that was rejected is refused on its page too, as in the audit log', () => {
  expect([
    outcomeOfCode('CONFIRMATION_REJECTED'),
    outcomeOfCode('TOOL_VALIDATION_ERROR'),
    outcomeOfCode('CONFIRMATION_REQUIRED'),
    outcomeOfCode('TOOL_EXECUTION_ERROR'),
    outcomeOfCode(undefined),
  ]).toEqual(['refused', 'refused', 'waiting', 'failure', 'failure']);
});

it.each([
  ['CONFIRMATION_REQUIRED', '#/approvals', 'See the calls that wait'],
  ['TOOL_DISABLED', '#/rules', 'Open the rules'],
  ['APPROVAL_REQUIRED', '#/approvals/a%3Ab', 'See what waits'],
  ['TOOL_CHANGED', '#/approvals/a%3Ab', 'See what waits'],
  ['SERVER_CONNECTION_ERROR', '#/servers/a', 'Open the server'],
  ['CIRCUIT_OPEN', '#/servers/a', 'Open the server'],
  ['TOOL_VALIDATION_ERROR', undefined, undefined],
])('STUDIO-1 leads from a call that did not succeed to where it is mended: %s', (code, href, label) => {
  expect(placeOfCode(code, 'a', 'b')).toEqual(href && { href, label });
});

it('STUDIO-1 opens no tool that is not there', () => {
  expect([hasTool('TOOL_NOT_FOUND'), hasTool('SERVER_NOT_FOUND'), hasTool('TOOL_DISABLED')]).toEqual([
    false,
    false,
    true,
  ]);
  expect(placeOfCode('APPROVAL_REQUIRED', 'a')?.href).toBe('#/approvals/a');
  expect(placeOfCode(undefined, 'a')).toBeUndefined();
});
