import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../kernel/json.js';
import { type Lock, LOCK_VERSION, type LockItem, type LockServer } from '../model/lock.js';
import { lineOf } from './compare-locks.js';
import { hashOfLock, lockHash, readLock, writeLock } from './lock-text.js';

const item = (name: string, definition: JsonValue = { name }): LockItem => ({
  name,
  hash: lockHash(definition),
  definition,
});
const server = (id: string, more: object = {}): LockServer =>
  ({
    id,
    launch: { type: 'stdio', target: 'node x' },
    presentation: {},
    tools: [item('b'), item('a')],
    prompts: [],
    resources: [],
    resourceTemplates: [],
    ...more,
  }) as unknown as LockServer;
const lock = (...servers: LockServer[]): Lock => ({ lockVersion: LOCK_VERSION, servers });
/** A file with these servers and a hash that fits, whatever they are. */
const signed = (servers: JsonValue, more: JsonObject = {}): string => {
  const content = { lockVersion: LOCK_VERSION, servers, ...more };
  return JSON.stringify({ ...content, integrity: lockHash(content) });
};
const problemOf = (text: string): string | undefined => {
  const read = readLock(text, 'x.json');
  return 'problem' in read ? read.problem.message.replace('The lock file x.json ', '') : undefined;
};

describe('the text of a lock file', () => {
  it('SEC-10 is the same in whatever order servers, items and keys come, and reads back', () => {
    const one = lock(server('b'), server('a', { tools: [item('a'), item('b')] }));
    const other = lock(server('a'), server('b', { tools: [item('a'), item('b')] }));
    expect(writeLock(one)).toBe(writeLock(other));
    const read = readLock(writeLock(one), 'x');
    expect('lock' in read && read.lock.servers.map(({ id, tools }) => [id, tools.map(({ name }) => name)])).toEqual([
      ['a', ['a', 'b']],
      ['b', ['a', 'b']],
    ]);
    expect(hashOfLock(one)).toBe((JSON.parse(writeLock(one)) as JsonObject)['integrity']);
    expect(hashOfLock(one)).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(hashOfLock(lock(server('a')))).not.toBe(hashOfLock(one));
  });

  it('SEC-10 A16 empty lists and objects stand in one line, absent fields not at all, and nothing invisible', () => {
    const text = writeLock(lock(server('a', { tools: [], package: undefined, protocolVersion: '\u202e' })));
    expect(text).toContain('"tools": []');
    expect(text).toContain('"presentation": {}');
    expect(text).not.toMatch(/undefined|null|package|\u202e/);
    expect(text).toMatch(/^\{\n {2}"integrity": "sha256:/);
    expect(text.endsWith('}\n')).toBe(true);
  });

  it.each<[text: string, problem: string]>([
    ['<<<<<<< ours\n{}', 'holds a merge conflict.'],
    ['{\n=======\n}', 'holds a merge conflict.'],
    ['{}\n>>>>>>> theirs', 'holds a merge conflict.'],
    ['{ "a": "<<<<<<<"', 'is not JSON.'],
    ['', 'is not JSON.'],
    ['[]', 'is not a lock file.'],
    ['null', 'is not a lock file.'],
    ['{}', 'is not a lock file.'],
    [JSON.stringify({ lockVersion: LOCK_VERSION, servers: {} }), 'is not a lock file.'],
    [JSON.stringify({ lockVersion: LOCK_VERSION - 1, servers: [] }), 'is not a lock file.'],
    [JSON.stringify({ lockVersion: 'x', servers: [] }), 'is not a lock file.'],
    [
      JSON.stringify({ lockVersion: LOCK_VERSION + 1 }),
      `was written by a newer toolscout (version ${LOCK_VERSION + 1}; this one supports ${LOCK_VERSION}).`,
    ],
    [
      JSON.stringify({ lockVersion: LOCK_VERSION, servers: [] }),
      'was edited by hand: the hash "integrity" does not match its content.',
    ],
    [
      signed([], { more: 1 }).replace('"more":1', '"more":2'),
      'was edited by hand: the hash "integrity" does not match its content.',
    ],
  ])('SEC-10 A23 %j is not used: %s', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  it('SEC-10 A26 a file that nests too deep is none, to the level', () => {
    const nested = (levels: number): string => {
      let value: JsonValue = 1;
      for (let level = 0; level < levels; level++) value = [value];
      // The file itself is one level.
      return signed([], { value });
    };
    expect(problemOf(nested(71))).toBeUndefined();
    expect(problemOf(nested(72))).toBe('is not a lock file.');
    expect(problemOf('[{"a":'.repeat(20_000) + '1' + '}]'.repeat(20_000))).toBe('is not a lock file.');
  });

  it.each<[what: string, broken: JsonValue]>([
    ['no object', 5],
    ['no id', { ...server('a'), id: 5 } as never],
    ['no presentation', { ...server('a'), presentation: 'x' } as never],
    ['no launch', { ...server('a'), launch: 'x' } as never],
    ['no target', { ...server('a'), launch: {} } as never],
    ...['tools', 'prompts', 'resources', 'resourceTemplates'].map((list): [string, JsonValue] => [
      `no ${list}`,
      { ...server('a'), [list]: {} } as never,
    ]),
    ...[5, { hash: 'h', definition: 1 }, { name: 'n', definition: 1 }, { name: 'n', hash: 'h' }].map(
      (each): [string, JsonValue] => [
        `the item ${JSON.stringify(each)}`,
        { ...server('a'), tools: [item('a'), each] } as never,
      ],
    ),
  ])('SEC-10 A48 a server that cannot be read spoils the file, whatever its hash says: %s', (_what, broken) => {
    expect(problemOf(signed([server('ok') as never, broken]))).toBe('holds a server that cannot be read.');
  });

  it('SEC-10 A48 a server twice, and a definition with another hash, are found under a hash that fits', () => {
    expect(problemOf(signed([server('a'), server('a')] as never))).toBe('holds a server twice.');
    const forged = { ...item('evil'), definition: { name: 'evil', description: 'other' } };
    for (const list of ['tools', 'prompts', 'resources', 'resourceTemplates']) {
      expect(problemOf(signed([server('a', { [list]: [item('ok'), forged] })] as never))).toBe(
        'was edited by hand: the hash of "evil" of "a" does not match its definition.',
      );
    }
    expect(problemOf(signed([server('a'), server('b')] as never))).toBeUndefined();
  });

  it('SEC-10 the line of a drift is that of the server, the field or the item, and the first line for what is not there', () => {
    const text = writeLock(lock(server('a', { tools: [item('x,')] }), server('b')));
    const lineAt = (found: object): string => text.split('\n')[lineOf(text, found as never) - 1]!.trim();
    expect(lineAt({ server: 'b', subject: 'server' })).toBe('"id": "b",');
    expect(lineAt({ server: 'a', subject: 'tools' })).toBe('"tools": [');
    expect(lineAt({ server: 'a', subject: 'nothing' })).toBe('"id": "a",');
    expect(lineAt({ server: 'a', subject: 'tools', name: 'x,' })).toBe('"name": "x,"');
    expect(lineAt({ server: 'a', subject: 'tools', name: 'none' })).toBe('"tools": [');
    expect(lineAt({ server: 'none', subject: 'tools' })).toBe('{');
    expect(lineAt({ server: 'a', subject: 'nothing', name: 'x,' })).toBe('"id": "a",');
  });

  it('SEC-10 the line of an item is not that of another server, another list or a definition with the same name', () => {
    const nested = item('b', { inputSchema: { name: 'inner' } });
    const text = writeLock(
      lock(server('a', { tools: [nested], prompts: [item('p')] }), server('b', { tools: [item('x'), item('p')] })),
    );
    const lines = text.split('\n');
    const listOf = (id: string, list: string): number =>
      lines.findIndex(
        (line, at) => at > lines.indexOf(`      "id": "${id}",`) && line.startsWith(`      "${list}": `),
      ) + 1;
    const lineFor = (id: string, subject: string, name: string): number =>
      lineOf(text, { server: id, subject, name } as never);
    expect(lineFor('a', 'tools', 'x')).toBe(listOf('a', 'tools'));
    expect(lineFor('a', 'prompts', 'x')).toBe(listOf('a', 'prompts'));
    expect(lineFor('a', 'resources', 'p')).toBe(listOf('a', 'resources'));
    expect(lineFor('a', 'tools', 'inner')).toBe(listOf('a', 'tools'));
    expect(lineFor('b', 'tools', 'x')).toBeGreaterThan(listOf('b', 'tools'));
    expect(lines[lineFor('b', 'tools', 'x') - 1]).toBe('          "name": "x"');
  });
});
