import { expect, it } from 'vitest';
import { shortName } from './short-name.js';

it.each([
  ['io.github.acme/mcp-server-postgres', 'postgres'],
  ['io.github.acme/calendar-mcp', 'calendar'],
  ['com.acme/Some Server!', 'Some-Server-'],
  ['plain', 'plain'],
  ['acme/', 'server'],
])('STUDIO-8 suggests a short name for a server of the registry: %s', (name, short) => {
  expect(shortName(name)).toBe(short);
});
