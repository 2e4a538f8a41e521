import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DOCUMENTATION } from './documentation.js';

it('STUDIO-1 the help leads to the documentation in the repository of the package', () => {
  const { homepage } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    homepage: string;
  };
  expect(DOCUMENTATION.startsWith(homepage.replace(/#.*/, ''))).toBe(true);
});
