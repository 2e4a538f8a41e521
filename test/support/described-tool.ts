import type { Tool } from '../../src/model/tool.js';

/** A tool as the index sees it: with texts, and nothing else that matters. */
export function describedTool(server: string, name: string, description = '', rest: Partial<Tool> = {}): Tool {
  return {
    server,
    name,
    description,
    summary: description,
    parameters: [],
    domains: [],
    categories: [],
    tags: [],
    status: 'enabled',
    decision: { enabled: true, reason: 'default' },
    provenance: 'protocol',
    hash: '',
    definition: {},
    ...rest,
  };
}
