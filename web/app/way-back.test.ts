import { expect, it } from 'vitest';
import { placeBefore } from './way-back.js';

it('STUDIO-1 the page of a tool leads back to where it was opened, with the words that were searched for', () => {
  expect(placeBefore('#/search?q=read+a+file', 'files')).toEqual({
    view: 'search',
    label: 'Search',
    href: '#/search?q=read+a+file',
  });
  expect(placeBefore('#/held', 'files')).toMatchObject({ view: 'held', label: 'Held back' });
  expect(placeBefore('', 'files')).toEqual({ view: 'home', label: 'Home', href: '#' });
  // A tool belongs to its server.
  const server = { view: 'servers', label: 'files', href: '#/servers/files' };
  for (const address of [undefined, '#/servers', '#/servers/files', '#/constructor', '#/nowhere']) {
    expect(placeBefore(address, 'files')).toEqual(server);
  }
});
