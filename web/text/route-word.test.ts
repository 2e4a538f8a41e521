import { expect, it } from 'vitest';
import { routeWord } from './route-word.js';

it('STUDIO-1 names the front that asked', () => {
  expect(['mcp', 'http', 'cli', 'library'].map(routeWord)).toEqual(['MCP host', 'HTTP API', 'command line', 'library']);
});
