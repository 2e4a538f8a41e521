import { describe, expect, it } from 'vitest';
import type { ConfigPlan } from '../api/types.js';
import {
  additionWords,
  canSave,
  commandsTitle,
  exceptionWords,
  hidesValues,
  isRemoval,
  removalWords,
  saveLabel,
  writtenText,
} from './change-words.js';

const command = (type: 'stdio' | 'http'): ConfigPlan['commands'][number] =>
  ({ server: 'a', type, target: 'x', secrets: [] }) as unknown as ConfigPlan['commands'][number];

describe('words of a change of the config', () => {
  it('STUDIO-8 says that something is run here, wherever one of the servers is', () => {
    expect(commandsTitle([command('http'), command('stdio')])).toBe('This would be run on your machine');
    expect(commandsTitle([command('http')])).toBe('This address would be used');
  });

  it('STUDIO-8 the button says what is allowed with the change', () => {
    expect(saveLabel({ commands: [] })).toBe('Save');
    expect(saveLabel({ commands: [command('stdio')] })).toBe('Save and allow this command');
    expect(saveLabel({ commands: [command('http'), command('http')] })).toBe('Save and allow these 2 addresses');
    expect(saveLabel({ commands: [command('stdio'), command('http')] })).toBe('Save and allow these 2 servers');
  });

  it('STUDIO-8 what is added is called so on the button as well', () => {
    const entry = { command: 'x' };
    expect(additionWords({ servers: { a: entry } })).toEqual({ title: 'Add a', verb: 'Add the server' });
    expect(additionWords({ servers: { a: entry, b: entry } })).toEqual({
      title: 'Add 2 servers',
      verb: 'Add 2 servers',
    });
  });

  it('STUDIO-8 a change with a problem, and one that changes nothing, cannot be written', () => {
    const problem = { path: 'mode', message: 'expected one of' };
    expect(canSave({ problems: [], before: 'a', after: 'b' })).toBe(true);
    expect(canSave({ problems: [problem], before: 'a', after: 'b' })).toBe(false);
    expect(canSave({ problems: [], before: 'a', after: 'a' })).toBe(false);
  });

  it('STUDIO-8 says what a placeholder is where the difference shows one', () => {
    const secret = 'token: TOOLSCOUT_SECRET_0123456789ab';
    const far = Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n');
    expect(hidesValues({ before: 'a', after: `a\n${secret}` })).toBe(true);
    expect(hidesValues({ before: `${secret}\na`, after: 'a' })).toBe(true);
    expect(hidesValues({ before: `${secret}\na`, after: `${secret}\nb` })).toBe(true);
    expect(hidesValues({ before: `${secret}\n${far}\na`, after: `${secret}\n${far}\nb` })).toBe(false);
    expect(hidesValues({ before: 'a', after: 'b' })).toBe(false);
  });

  it('STUDIO-8 tells a file that is in force from one that was only written', () => {
    expect(writtenText({ file: 'c.json' })).toBe('c.json was written and is in force.');
    expect(writtenText({ file: 'c.json', problem: 'busy' })).toBe('c.json was written, but not taken over: busy');
  });

  it('STUDIO-8 calls a removal a removal', () => {
    expect(isRemoval({ servers: { a: null } })).toBe(true);
    expect([isRemoval({ servers: { a: { command: 'x' } } }), isRemoval(undefined)]).toEqual([false, false]);
    const { verb, done } = removalWords('a');
    expect(verb).toBe('Remove');
    expect(writtenText({ file: 'c.json' }, done)).toBe('a was removed.');
    expect(writtenText({ file: 'c.json', problem: 'busy' }, done)).toContain('busy');
  });

  it('STUDIO-8 says what an exception for one tool leaves alone', () => {
    const { title, note } = exceptionWords(`a:${'b'.repeat(500)}`);
    expect(title.length).toBeLessThan(140);
    expect(note).toMatch(/^Agents get a:b+; every other tool stays as it is\.$/);
  });
});
