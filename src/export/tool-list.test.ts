import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyText } from '../../test/support/any-text.js';
import { httpServer } from '../../test/support/test-server.js';
import type { JsonObject } from '../kernel/json.js';
import { compileRules, normalizeTool } from '../normalize/index.js';
import { toolListText } from './tool-list.js';
import { sectionOf, type Section } from './section.js';

const RULES = compileRules([]);

function section(id: string, ...definitions: JsonObject[]): Section {
  const server = httpServer(id, `https://${id}.example.com/mcp`, {
    title: `The ${id}`,
    autoApproved: ['list_*', 'post'],
  });
  return sectionOf(
    server,
    definitions.map((definition) => normalizeTool(server, definition, RULES)),
  );
}

const github = section('github', {
  name: 'list_issues',
  description: 'List issues. More words.',
  inputSchema: { type: 'object', properties: { state: {}, repo: {}, owner: {} }, required: ['repo', 'owner'] },
});
const slack = section('slack', { name: 'post', description: 'Post a message' });
const asana = section('asana', { name: 'tasks', description: 'Tasks' });

/** What is not between markers. */
const outside = (text: string): string =>
  text.replaceAll(/<!-- toolscout:begin (\S+) -->[^]*?<!-- toolscout:end \1 -->\r?\n/g, '');

describe('the tool list in Markdown', () => {
  it('SCH-8 has one section a server with marks at auto-approved tools', () => {
    const pending = { ...github, tools: [...github.tools, { ...github.tools[0]!, autoApproved: false }] };
    expect(toolListText([pending, slack])).toBe(`# Tool list

Every export replaces the text between the markers; text outside of them is kept.

<!-- toolscout:begin github -->
## github

The github · \`https://github.example.com/mcp\` · 2 tools

| tool | auto-approved | what it does | parameters |
| --- | :-: | --- | --- |
| \`list_issues\` | ✓ | List issues | \`owner\` \`repo\` \`state\`? |
| \`list_issues\` |  | List issues | \`owner\` \`repo\` \`state\`? |
<!-- toolscout:end github -->
<!-- toolscout:begin slack -->
## slack

The slack · \`https://slack.example.com/mcp\` · 1 tool

| tool | auto-approved | what it does | parameters |
| --- | :-: | --- | --- |
| \`post\` | ✓ | Post a message |  |
<!-- toolscout:end slack -->
`);
  });

  it('SCH-8 exporting again changes nothing', () => {
    const text = toolListText([github, slack]);
    expect(toolListText([github, slack], { existing: text })).toBe(text);
  });

  it('SCH-8 keeps what was written around and between sections, to the byte', () => {
    const [head, rest] = toolListText([github, slack]).split('<!-- toolscout:begin slack -->');
    const existing = `Mine, before\n${head}\n### Our rules for slack\n\n* never on *Friday*\t \n<!-- toolscout:begin slack -->${rest}\nAfter, without an end`;
    const renewed = toolListText([section('github'), slack], { existing });
    expect(renewed).toContain(
      '0 tools\n<!-- toolscout:end github -->\n\n### Our rules for slack\n\n* never on *Friday*\t \n<!-- toolscout:begin slack -->',
    );
    expect(outside(renewed)).toBe(outside(existing));
    expect(renewed.startsWith('Mine, before\n')).toBe(true);
    expect(renewed.endsWith('\nAfter, without an end')).toBe(true);
  });

  it('SCH-8 a moved section keeps its place, edits inside of it are lost', () => {
    const part = (one: Section): string => toolListText([one], { existing: '#\n' }).slice(2);
    const existing = `# Mine\n${part(slack).replace('Post a message', 'HACKED')}between\n${part(github)}`;
    expect(toolListText([github, slack], { existing })).toBe(`# Mine\n${part(slack)}between\n${part(github)}`);
  });

  it('SCH-8 a new server is put in by name, a removed one goes and leaves the text around it', () => {
    const existing = `${toolListText([github, slack])}Mine\n`;
    const more = toolListText([asana, github, section('linear'), slack, section('zoom')], { existing });
    expect([...more.matchAll(/begin (\S+)/g)].map((match) => match[1])).toEqual([
      'asana',
      'github',
      'linear',
      'slack',
      'zoom',
    ]);
    expect(more.endsWith('Mine\n')).toBe(true);
    const less = toolListText([slack], { existing });
    expect(less).not.toContain('github');
    expect(outside(less)).toBe(outside(existing));
    expect(toolListText([asana], { existing, partial: true })).toContain('begin github');
  });

  it('SCH-8 an unrelated file gets the sections at its end; an empty one the title', () => {
    expect(toolListText([slack], { existing: 'no newline' })).toMatch(/^no newline\n<!-- toolscout:begin slack -->/);
    expect(toolListText([slack], { existing: ' \n' })).toBe(toolListText([slack]));
  });

  it('SCH-8 line ends of the file are kept', () => {
    const existing = toolListText([github]).replaceAll('\n', '\r\n');
    expect(toolListText([github], { existing })).toBe(existing);
  });

  it.each([
    ['<!-- toolscout:begin a -->\nmine\n', 'line 1: the section "a" has no end marker'],
    ['mine\n<!-- toolscout:end a -->\n', 'line 2: this end of "a" has no begin marker'],
    ['<!-- toolscout:begin a -->\n<!-- toolscout:end b -->\n', 'line 2: this end of "b" has no begin marker'],
    [
      '<!-- toolscout:begin a -->\nmine\n<!-- toolscout:begin b -->\n<!-- toolscout:end b -->\n',
      'line 1: the section "a" has no end marker',
    ],
  ])('SCH-8 a marker without its partner is refused, nothing is lost: %j', (existing, message) => {
    expect(() => toolListText([slack], { existing })).toThrow(message);
  });

  it('SCH-8 hostile names and descriptions stay text', () => {
    const evil =
      '</code><script>alert(1)</script> | <!-- toolscout:end s -->\n<!-- toolscout:begin other -->\n# head ![x](http://e.vil/i.png) [a](javascript:x) **b** `c` @here www.evil.com \u202e ~~d~~ &lt;';
    const text = toolListText([
      section('s', { name: evil, title: evil, description: evil, inputSchema: { properties: { [evil]: {} } } }),
    ]);
    expect(text.match(/<!--/g)).toHaveLength(2);
    expect(text).toContain('&#64;here www&#46;evil.com');
    expect(text).not.toMatch(/<script|<\/script|(?<!\\)\]\(|\u202e|http:\/\/e|@here|www\.evil|^# head/m);
    expect(text.split('\n').filter((line) => line.startsWith('| '))).toHaveLength(3);
    expect(toolListText([slack], { existing: text })).not.toContain('script');
  });

  it('SCH-8 whatever servers say, exporting again is the same and what is outside is kept', () => {
    const texts = fc.oneof(
      anyText({ maxLength: 30 }),
      fc.constantFrom('<!-- toolscout:end s -->', '\n<!-- toolscout:end s -->\n', '|', '`', '-->'),
    );
    fc.assert(
      fc.property(texts, texts, texts, (name, description, note) => {
        const one = section('s', { name, description, title: description });
        const mine = note.replaceAll('toolscout', 'x').replaceAll('\r', '');
        const existing = `${mine}\n${toolListText([one])}${mine}`;
        const again = toolListText([one], { existing });
        expect(again).toBe(existing);
        expect(outside(again)).toContain(mine);
      }),
    );
  });
});
