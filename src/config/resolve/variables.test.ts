import { describe, expect, it } from 'vitest';
import type { Prompt } from '../../model/source.js';
import { parseEnvFile } from '../secrets/env-file.js';
import { inputVariable, translate, type TextContext } from './variables.js';

const around = (more: Partial<TextContext> = {}): TextContext => ({ notations: [], home: '/h', ...more });
const say = (text: string, more: Partial<TextContext> = {}): string => translate(text, around(more), new Map());

describe('translate', () => {
  it.each([
    ['${env:X}', '${X}', []],
    ['${X:-a}', '${X:-a}', []],
    ['$X and ${Y}', '$X and ${Y}', []],
    ['$X and ${Y}/$Z_1', '${X} and ${Y}/${Z_1}', ['dollar']],
    ['5$ or $5', '5$ or $5', ['dollar']],
    ['{env:X}-{file:y}', '${X}-{file:y}', ['braces']],
    ['%X%-100%', '${X}-100%', ['percent']],
    ['${{ secrets.A_B }}', '${A_B}', ['secrets']],
    ['${userHome}/x', '/h/x', []],
    ['${command:run}', '${command:run}', []],
  ] as const)('CFG-5 A31 %s becomes %s', (text, out, notations) => {
    expect(say(text, { notations })).toBe(out);
  });

  it('CFG-5 the folder of a workspace is known only in a project', () => {
    expect(say('${workspaceFolder}/a', { project: '/p/q' })).toBe('/p/q/a');
    expect(say('${workspaceFolderBasename}', { project: '/p/q' })).toBe('q');
    expect(say('${workspaceFolder}/a')).toBe('${workspaceFolder}/a');
  });

  it('CFG-5 what a client would ask for becomes a variable that says so', () => {
    const prompts = new Map<string, Prompt>();
    const describe = (id: string): { text?: string; fallback?: string } =>
      id === 'region' ? { text: 'Region', fallback: 'eu' } : {};
    expect(translate('${input:region}/${input:api-key}', around({ describe }), prompts)).toBe(
      '${MCP_INPUT_REGION:-eu}/${MCP_INPUT_API_KEY}',
    );
    expect([...prompts.values()].map(({ text }) => text)).toEqual(['input "region": Region', 'input "api-key"']);
    expect(inputVariable('$(id) ; x')).toBe('MCP_INPUT__ID_X');
  });

  it('A31 what comes out is not read again', () => {
    expect(say('$A', { notations: ['dollar', 'percent'] })).toBe('${A}');
    expect(say('${env:A:-${env:B}}')).toBe('${A:-${env:B}}');
  });
});

describe('parseEnvFile', () => {
  it('CFG-5 reads names and values, quotes and export; everything else is passed over', () => {
    const text = '# x\nA=1\nexport B="two words"\r\nC=\'it\'\n\nD = d # kept\n1X=no\nno line\n__proto__=x\nE=';
    expect(parseEnvFile(text)).toEqual({ A: '1', B: 'two words', C: 'it', D: 'd # kept', E: '' });
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
  });
});
