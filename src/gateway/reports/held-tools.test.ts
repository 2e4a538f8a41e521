import { describe, expect, it } from 'vitest';
import { testTool } from '../../../test/support/test-tool.js';
import type { Tool } from '../../model/tool.js';
import { heldTools } from './held-tools.js';

const tool = (name: string, status: Tool['status'], summary = ''): Tool =>
  testTool('server', name, { status, summary });
const TOOLS = [
  tool('read_file', 'enabled'),
  tool('write_file', 'disabled', 'Create a new file or overwrite one'),
  tool('pay', 'quarantined', 'Pays an invoice and writes a file'),
];
const explain = () => ({ because: 'rule', reason: 'A rule.' }) as const;
const namesFor = (query?: string): string[] => heldTools(TOOLS, explain, query).tools.map((each) => each.tool);

describe('tools that are held back', () => {
  it('STUDIO-1 are all that are not offered, each with its reason', () => {
    expect(heldTools(TOOLS, explain, undefined)).toEqual({
      total: 2,
      tools: [
        { server: 'server', tool: 'write_file', status: 'disabled', because: 'rule', reason: 'A rule.' },
        { server: 'server', tool: 'pay', status: 'quarantined', because: 'rule', reason: 'A rule.' },
      ],
    });
    const many = Array.from({ length: 300 }, (_, each) => tool(`t${each}`, 'pending'));
    const { total, tools } = heldTools(many, explain, undefined);
    expect([total, tools.length]).toEqual([300, 200]);
  });

  it('STUDIO-1 A11 are found by most of the words, those that wait for approval by their name alone', () => {
    expect(namesFor('write_file')).toEqual(['write_file']);
    expect(namesFor('write a text to a file')).toEqual(['write_file']);
    expect(namesFor('create a new file')).toEqual(['write_file']);
    expect(namesFor('delete every calendar entry')).toEqual([]);
    expect(namesFor('writes an invoice')).toEqual([]);
    expect(namesFor('Pay')).toEqual(['pay']);
    expect(namesFor('a b')).toEqual([]);
  });

  it('STUDIO-1 are found by their action, by other words for it, and by all words of their name', () => {
    const tools = [
      tool('delete_all_notes', 'disabled'),
      tool('deleteNote', 'pending', 'Removes one of the reports'),
      tool('list_notes', 'disabled'),
    ];
    const found = (query: string): string[] => heldTools(tools, explain, query).tools.map((each) => each.tool);
    expect(found('delete everything')).toEqual(['delete_all_notes', 'deleteNote']);
    expect(found('remove notes')).toEqual(['delete_all_notes', 'deleteNote']);
    expect(found('go through last year and delete each note about the old office in Vienna')).toEqual([
      'delete_all_notes',
      'deleteNote',
    ]);
    expect(found('everything')).toEqual([]);
    expect(found('reports')).toEqual([]);
  });
});
