import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSkill } from './skill-file.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { codePoint } from '../../test/support/any-text.js';

const read = (text: string) => parseSkill(text, { id: 'fire-watch', path: '/skills/fire-watch/skill.md' });
const names = async (text: string): Promise<string[]> => (await read(text)).capabilities.map(({ name }) => name);

describe('skill.md', () => {
  it('NEG-2 title, sections and the list of capabilities, each with its line', async () => {
    const skill = await read(
      [
        '# Fire watch',
        '',
        'Finds fires.',
        '',
        '## Capabilities',
        '',
        '- `incident:read` — the list of fires',
        '- gis:radius_query: what is near',
        '* **raster:dnbr**, burn severity',
        '1. [ ] weather:*',
        '',
        '## Steps',
        '- not:this',
      ].join('\n'),
    );
    expect(skill).toMatchObject({ id: 'fire-watch', title: 'Fire watch', problems: [] });
    expect(skill.sections.map(({ title, line }) => [title, line])).toEqual([
      ['Fire watch', 1],
      ['Capabilities', 5],
      ['Steps', 12],
    ]);
    expect(skill.capabilities).toEqual([
      { name: 'incident:read', line: 7 },
      { name: 'gis:radius_query', line: 8 },
      { name: 'raster:dnbr', line: 9 },
      { name: 'weather:*', line: 10 },
    ]);
  });

  it('NEG-2 front matter is accepted: a list, one line, or a text; with the title', async () => {
    expect(await names('---\ntitle: X\ncapabilities:\n  - incident:read\n  - gis:*\n---\n# Y')).toEqual([
      'incident:read',
      'gis:*',
    ]);
    expect(await names('---\ncapabilities: [incident:read, "gis:*"]\n---\n')).toEqual(['incident:read', 'gis:*']);
    expect(await names('---\ncapabilities: incident:read gis:query\n---\n')).toEqual(['incident:read', 'gis:query']);
    const skill = await read(
      '---\ntitle: From above\ncapabilities:\n  - a:b\n  - "not one!"\n---\n# Below\n## Capabilities\n- c:d',
    );
    expect(skill.title).toBe('From above');
    expect(skill.capabilities).toEqual([
      { name: 'a:b', line: 4 },
      { name: 'c:d', line: 9 },
    ]);
    expect(skill.problems).toEqual([
      { path: 'line 5', message: expect.stringContaining('"not one!" is no capability') },
    ]);
  });

  it('NEG-2 tables, subsections, other headings; code blocks hide what only looks like one', async () => {
    const text = [
      '# T',
      '### Required capabilities',
      '| Capability | Why |',
      '| --- | --- |',
      '| `incident:read` | fires |',
      '#### More',
      '- gis:query',
      '```md',
      '## Capabilities',
      '- hidden:here',
      '```',
      '## Other',
      '- not:this',
    ].join('\r\n');
    expect(await names(text)).toEqual(['incident:read', 'gis:query']);
  });

  it('NEG-2 problems are told with their line and hide nothing else', async () => {
    const skill = await read('# T\n## Capabilities\n- in cident!\n- a:b\n- a:b\n- <script>\n- c:d\n```\nopen');
    expect(skill.capabilities.map(({ name }) => name)).toEqual(['a:b', 'c:d']);
    expect(skill.problems.map(({ path }) => path)).toEqual(['line 3', 'line 5', 'line 6', 'line 8']);
    expect((await read('# Only a title')).problems).toEqual([
      { path: 'line 1', message: expect.stringContaining('## Capabilities') },
    ]);
    expect((await read('---\ncapabilities: [a\n---\n')).problems[0]).toMatchObject({
      message: expect.stringContaining('YAML'),
    });
    expect((await read('---\nnever closed')).problems[0]?.message).toContain('never closed');
    expect((await read('## Capabilities\n- *')).problems.at(-1)?.message).toContain('asks for everything');
  });

  it('NEG-2 A28 any text is read, quickly and within bounds', COMPUTES_LONG, async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: codePoint, maxLength: 400 }), async (text) => {
        const skill = await read(`---\n${text}\n---\n## Capabilities\n- ${text}\n${text}`);
        expect(skill.problems.length).toBeLessThanOrEqual(52);
      }),
      { numRuns: repetitions(100, 300) },
    );
    const huge = await read(`## Capabilities\n${'- a:b '.repeat(500_000)}\n${'* `'.repeat(300_000)}`);
    expect(huge.capabilities).toEqual([{ name: 'a:b', line: 2 }]);
    const bomb = `---\na: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\ncapabilities: *c\n---\n`;
    expect((await read(bomb)).capabilities).toEqual([]);
  });
});
