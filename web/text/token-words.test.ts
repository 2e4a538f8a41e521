import { expect, it } from 'vitest';
import { menuText, tokensText } from './token-words.js';

it('STUDIO-1 says what is counted: the menu with the admin tools, and the instructions', () => {
  const tokens = { now: 870, everything: 9000, menu: 750, instructions: 120, tools: 8, adminTools: 3 };
  expect(menuText(tokens)).toBe(
    'A menu of 8 tools, 3 of them because of serve --admin: 750 tokens, as for a menu in Audit. Instructions: 120.',
  );
  expect(menuText({ ...tokens, adminTools: 0, tools: 5, menu: 480 })).toContain('A menu of 5 tools: 480 tokens');
});

it('STUDIO-1 says of each record what its tokens are', () => {
  const tokens = { arguments: 3, returned: 1200, withheld: 0 };
  expect(tokensText({ kind: 'menu', tokens })).toBe('definitions of the tools 1,200');
  expect(tokensText({ kind: 'execution', tokens: { ...tokens, withheld: 5 } })).toBe(
    'arguments 3, answer 1,200, 5 kept back',
  );
  expect(tokensText({ kind: 'execution' })).toBeUndefined();
});
