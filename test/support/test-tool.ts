import type { Tool } from '../../src/model/tool.js';

/** A complete tool for tests: enabled, and nothing is known of it but its name. */
export function testTool(server: string, name: string, rest: Partial<Tool> = {}): Tool {
  return {
    server,
    name,
    description: '',
    summary: '',
    parameters: [],
    domains: [],
    categories: [],
    tags: [],
    status: 'enabled',
    decision: { enabled: true, reason: 'default' },
    provenance: 'protocol',
    hash: 'h',
    definition: { name },
    ...rest,
  };
}

/** A tool as the index sees it: with texts, and nothing else that matters. */
export function describedTool(server: string, name: string, description = '', rest: Partial<Tool> = {}): Tool {
  return testTool(server, name, { description, summary: description, ...rest });
}
