import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describedTool as tool } from '../../test/support/test-tool.js';
import { COMPUTES_LONG } from '../../test/support/patience.js';
import { repetitions } from '../../test/support/long-form.js';
import { addressOf } from '../kernel/ids.js';
import type { Tool } from '../model/tool.js';
import { createKnowledgeSource } from './knowledge.js';
import { createIndex, type Ranked, type ToolIndex } from './search.js';
import { codePoint } from '../../test/support/any-text.js';

function parameter(name: string, description = '', values?: string[]): Tool['parameters'][number] {
  return { name, type: 'string', required: false, description, ...(values ? { values } : {}) };
}

const GITHUB = [
  tool('github', 'create_issue', 'Create a new issue in a repository.', {
    parameters: [parameter('repo', 'The repository'), parameter('title'), parameter('body', 'Text in Markdown')],
    tags: ['write', 'code'],
  }),
  tool('github', 'list_issues', 'List the issues of a repository.', {
    parameters: [parameter('state', 'Which issues', ['open', 'closed'])],
    tags: ['code'],
  }),
  tool('github', 'delete_repository', 'Delete a repository for ever.', { status: 'disabled' }),
  tool('github', 'fork_repository', 'Fork a repository.', { status: 'pending' }),
];
const FILES = [
  tool('files', 'read_file', 'Read the contents of a file from disk.', { parameters: [parameter('path')] }),
  tool('files', 'write_file', 'Write text to a file, replacing what was there.', { parameters: [parameter('path')] }),
  tool('files', 'list_directory', 'List everything inside a directory.', { parameters: [parameter('path')] }),
];
const WEATHER = [
  tool('weather', 'getForecast', 'The forecast for a city.', { parameters: [parameter('city')] }),
  tool('weather', 'who_am_i', 'The account in use.'),
  tool('weather', '天气查询', '查询城市的天气预报'),
];

function sampleIndex(): ToolIndex {
  const index = createIndex();
  index.replace('github', GITHUB, { title: 'Code Hosting', name: 'octo-mcp' });
  index.replace('files', FILES);
  index.replace('weather', WEATHER);
  return index;
}

const addresses = (hits: readonly Ranked[]): string[] => hits.map((hit) => addressOf(hit.tool.server, hit.tool.name));
const find = (query: string, options = {}): string[] => addresses(sampleIndex().search(query, options));

describe('the catalog', () => {
  it('FIND-1 knows its tools and servers', () => {
    const index = sampleIndex();
    expect(index.size).toBe(10);
    expect(index.servers()).toEqual(['files', 'github', 'weather']);
    expect(index.tool('files', 'read_file')).toBe(FILES[0]);
    expect(index.tool('files', 'read')).toBeUndefined();
    expect(index.tool('nobody', 'read_file')).toBeUndefined();
    expect(index.tools('files').map(({ name }) => name)).toEqual(['list_directory', 'read_file', 'write_file']);
    expect(index.tools('nobody')).toEqual([]);
    const names = index.tools().map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toHaveLength(10);
  });

  it('FIND-1 names such as __proto__ are names like any other', () => {
    const index = createIndex();
    index.replace('__proto__', [tool('__proto__', 'constructor', 'hasOwnProperty of toString')]);
    expect(index.tool('__proto__', 'constructor')?.name).toBe('constructor');
    expect(addresses(index.search('constructor'))).toEqual(['__proto__:constructor']);
    expect(index.search('valueOf')).toEqual([]);
  });

  it('FIND-3 a replaced server has its new tools only, a removed one none', () => {
    const index = sampleIndex();
    index.replace('files', [tool('files', 'shred', 'Shred paper.')]);
    expect(addresses(index.search('read file contents'))).not.toContain('files:read_file');
    expect(addresses(index.search('shred paper'))).toEqual(['files:shred']);
    index.remove('files');
    index.remove('files');
    expect(index.search('shred')).toEqual([]);
    expect(index.servers()).toEqual(['github', 'weather']);
    expect(index.size).toBe(7);
  });

  it('FIND-3 of two tools with one name the later is kept', () => {
    const index = createIndex();
    index.replace('a', [tool('a', 'x', 'first'), tool('a', 'x', 'second')]);
    expect(index.size).toBe(1);
    expect(index.tool('a', 'x')?.description).toBe('second');
  });
});

describe('search', () => {
  it('FIND-1 puts the tool that is meant first', () => {
    expect(find('create an issue')[0]).toBe('github:create_issue');
    expect(find('I want to see the contents of a file')[0]).toBe('files:read_file');
    expect(find('github issues')[0]).toBe('github:list_issues');
    expect(find('forecasts for cities')[0]).toBe('weather:getForecast');
  });

  it('FIND-1 finds by parameters, their values and what a server calls itself', () => {
    expect(find('markdown body')).toEqual(['github:create_issue']);
    expect(find('closed')).toContain('github:list_issues');
    expect(find('octo')).toEqual(['github:create_issue', 'github:list_issues']);
    expect(find('hosting')).toHaveLength(2);
  });

  it('FIND-1 finds by a word of the same class, below the word itself', () => {
    expect(find('erase repository', { includeDisabled: true })[0]).toBe('github:delete_repository');
    const index = createIndex();
    index.replace('a', [tool('a', 'fetch_page'), tool('a', 'get_page')]);
    expect(addresses(index.search('fetch page'))).toEqual(['a:fetch_page', 'a:get_page']);
  });

  it('FIND-7 finds a tool that shares no word with the query, by how people ask for it', () => {
    const knowledge = createKnowledgeSource((reason) => expect.unreachable(reason));
    const index = createIndex(knowledge);
    index.replace('sky', [tool('sky', 'get_weather', 'Current conditions'), tool('sky', 'list_songs', 'All songs')]);
    index.replace('post', [tool('post', 'send_email', 'Sends an email to a recipient.')]);
    expect(addresses(index.search('do I need an umbrella'))[0]).toBe('sky:get_weather');
    expect(addresses(index.search('drop a line to the landlord'))[0]).toBe('post:send_email');
    const words = createIndex();
    words.replace('sky', [tool('sky', 'get_weather', 'Current conditions')]);
    expect(words.search('do I need an umbrella')).toEqual([]);
  });

  it.each([
    ['envía un correo a la clienta', 'es'],
    ['发送邮件给客户', 'zh'],
    ['ईमेल भेजें', 'hi'],
    ['أرسل بريد إلكتروني', 'ar'],
    ['enviar um e-mail para o cliente', 'pt'],
    ['ইমেইল পাঠান', 'bn'],
    ['отправить письмо клиенту', 'ru'],
    ['メールを送信', 'ja'],
    ['eine E-Mail an die Kundin senden', 'de'],
    ['envoyer un courriel au client', 'fr'],
  ])('FIND-7 a query in one of the ten most spoken languages finds an English tool: %s', (query) => {
    const index = createIndex(createKnowledgeSource((reason) => expect.unreachable(reason)));
    index.replace('post', [tool('post', 'send_email', 'Sends an email to a recipient.')]);
    index.replace('sky', [tool('sky', 'get_weather', 'Current conditions'), tool('sky', 'list_songs', 'All songs')]);
    index.replace('files', FILES);
    expect(addresses(index.search(query))[0]).toBe('post:send_email');
  });

  it('FIND-7 explains a tool that was found by how people ask for it', () => {
    const index = createIndex(createKnowledgeSource((reason) => expect.unreachable(reason)));
    index.replace('post', [tool('post', 'send_email', 'Sends an email to a recipient.')]);
    const [hit] = index.search('drop a line to the landlord', { explain: true });
    const fields = hit!.explanation!.terms.flatMap((term) => term.fields);
    expect(fields).toContain('ways of asking');
    expect(hit!.explanation!.terms.every(({ term }) => /^[\p{L}\p{N}]+$/u.test(term))).toBe(true);
    expect(hit!.explanation!.signals.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(hit!.relevance, 9);
  });

  it('FIND-1 a server that the query writes as a name has that in its favour, others have not', () => {
    const index = createIndex();
    const names = ['list_records', 'get_record', 'create_record', 'delete_record', 'list_bases', 'list_tables'];
    for (const server of ['airtable', 'other', 'time']) {
      const tools = names.map((name) => tool(server, `${server[0]}_${name}`, 'The time of a base.'));
      index.replace(server, tools);
    }
    const mentioned = (query: string): Set<string> => {
      const hits = index.search(query, { explain: true, limit: 50 });
      const named = hits.filter(({ explanation }) => explanation!.signals.some(({ name }) => name === 'mention'));
      return new Set(named.map((hit) => hit.tool.server));
    };
    expect(mentioned('get a record from Airtable')).toEqual(new Set(['airtable']));
    expect(mentioned('Airtable')).toEqual(new Set());
    const [first, second] = ['Airtable', 'Time'].map((name) => {
      const [hit] = index.search(`delete a record in ${name}`, { explain: true });
      return hit!.explanation!.signals.find((signal) => signal.name === 'mention')?.share ?? 0;
    });
    expect(first).toBeGreaterThan(second!);
  });

  it('FIND-7 a server whose id hides the product is found by the package it is started with', () => {
    const index = createIndex();
    index.replace('work', [tool('work', 'create', 'Create an entry.')], { launch: '@linear/mcp' });
    index.replace('home', [tool('home', 'create', 'Create an entry.')]);
    expect(addresses(index.search('create an entry in Linear'))[0]).toBe('work:create');
  });

  it('FIND-1 of a long query every clause can find its tool', () => {
    const index = sampleIndex();
    index.replace('mail', [tool('mail', 'send_mail', 'Sends mail to a person.')]);
    const hits = index.search(
      'The forecast for the city of Rome tomorrow, the contents of the file from disk, and mail for the person in charge.',
      { explain: true },
    );
    expect(addresses(hits).slice(0, 3).toSorted()).toEqual([
      'files:read_file',
      'mail:send_mail',
      'weather:getForecast',
    ]);
    expect(hits[0]!.explanation!.signals.map(({ name }) => name)).toContain('clause');
  });

  it('FIND-1 explains a place: the shares of all signals are the relevance, terms name the fields they met', () => {
    const hits = sampleIndex().search('creating tickets in a repository', { explain: true });
    for (const { relevance, explanation } of hits) {
      expect(explanation!.signals.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(relevance, 9);
      expect(explanation!.terms.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 5);
    }
    expect(hits[0]!.explanation!.terms).toContainEqual(
      expect.objectContaining({ word: 'tickets', term: 'issu', fields: ['name', 'description'] }),
    );
    expect(sampleIndex().search('creating tickets')[0]).not.toHaveProperty('explanation');
  });

  it('FIND-1 sorts by relevance in [0,1], equal ones by address', () => {
    const index = createIndex();
    for (const server of ['b', 'a', 'c']) index.replace(server, [tool(server, 'ping', 'Ping a host')]);
    index.replace('d', [tool('d', 'trace', 'Ping every host on the way and tell how long each one took to answer')]);
    const hits = index.search('ping');
    expect(addresses(hits)).toEqual(['a:ping', 'b:ping', 'c:ping', 'd:trace']);
    expect(new Set(hits.slice(0, 3).map((hit) => hit.relevance)).size).toBe(1);
    expect(hits[3]!.relevance).toBeLessThan(hits[2]!.relevance);
  });

  it('FIND-1 relevance is near 1 when a name says everything and low for a stray word', () => {
    const index = sampleIndex();
    expect(index.search('create issue')[0]!.relevance).toBeGreaterThan(0.9);
    const [stray] = index.search('please translate this long poem about the city into Latin hexameters today');
    expect(stray!.relevance).toBeGreaterThan(0);
    expect(stray!.relevance).toBeLessThan(0.3);
  });

  it('FIND-1 tells which words were found', () => {
    const [hit] = sampleIndex().search('creating issues on mars');
    expect(hit!.tool.name).toBe('create_issue');
    expect(hit!.terms).toEqual(['creating', 'issues']);
  });

  it('FIND-1 ten hits unless a limit says otherwise', () => {
    const index = createIndex();
    index.replace(
      'many',
      Array.from({ length: 400 }, (_, i) => tool('many', `ping_${i}`, 'Ping')),
    );
    expect(index.search('ping')).toHaveLength(10);
    expect(index.search('ping', { limit: 3 })).toHaveLength(3);
    expect(index.search('ping', { limit: 1000 })).toHaveLength(400);
    expect(index.search('')).toHaveLength(10);
    expect(index.search('', { limit: 12.7 })).toHaveLength(12);
    for (const limit of [0, -1, Number.NaN]) expect(index.search('ping', { limit })).toEqual([]);
  });

  it.each(['', '   ', '?!', 'the of and', 'what can you do'])('FIND-1 %j lists by name and scores nothing', (query) => {
    const hits = sampleIndex().search(query);
    const names = hits.map((hit) => hit.tool.name);
    expect(names).toEqual(names.toSorted());
    expect(names).toHaveLength(8);
    expect(hits.every((hit) => hit.relevance === 0 && hit.terms.length === 0)).toBe(true);
  });

  it('FIND-1 what is not enabled is absent unless it is asked for', () => {
    expect(find('repository')).not.toContain('github:delete_repository');
    expect(find('repository', { includeDisabled: true })).toContain('github:delete_repository');
    expect(find('repository', { includeDisabled: true })).not.toContain('github:fork_repository');
    expect(find('', { server: 'github' })).toEqual(['github:create_issue', 'github:list_issues']);
  });

  it('FIND-1 narrows to a server and to tools that hold all tags', () => {
    expect(find('list', { server: 'files' })).toEqual(['files:list_directory']);
    expect(find('issue', { tags: ['code'] })).toHaveLength(2);
    expect(find('issue', { tags: ['code', 'write'] })).toEqual(['github:create_issue']);
    expect(find('', { tags: ['write'] })).toEqual(['github:create_issue']);
    expect(find('issue', { server: 'nobody' })).toEqual([]);
  });

  it('FIND-4 a word that no tool uses is read as the known word one slip away', () => {
    expect(find('forcast')[0]).toBe('weather:getForecast');
    expect(find('craete isssue')[0]).toBe('github:create_issue');
  });

  it('FIND-4 queries in other scripts and in stop words find names', () => {
    expect(find('城市天气')[0]).toBe('weather:天气查询');
    expect(find('who am I')).toEqual(['weather:who_am_i']);
  });

  it.each([
    ['Bitte lies mir die Datei vor', 'files:read_file'],
    ['muéstrame los archivos de la carpeta', 'files:list_directory'],
    ['écris ce texte dans le fichier', 'files:write_file'],
    ['创建一个问题', 'github:create_issue'],
    ['Wettervorhersage', 'weather:getForecast'],
  ])('FIND-4 a query in another language finds tools written in English: %s', (query, wanted) => {
    expect(find(query)[0]).toBe(wanted);
  });

  it('FIND-4 English words stay English where another language has the same', () => {
    const index = createIndex();
    index.replace('cats', [tool('cats', 'mal_scores'), tool('cats', 'die_roll'), tool('cats', 'list_files')]);
    expect(addresses(index.search('die roll'))[0]).toBe('cats:die_roll');
    expect(addresses(index.search('mal scores'))[0]).toBe('cats:mal_scores');
  });

  it('FIND-4 a query is cut at two kilobytes, never inside a character', () => {
    const filler = 'é'.repeat(1018);
    expect(find(`${filler} forecast`)).toContain('weather:getForecast');
    expect(find(`${'é'.repeat(1024)} forecast`)).toEqual([]);
    expect(find(`${'a '.repeat(1000)}${'forecast '.repeat(100_000)}`)).toContain('weather:getForecast');
  });

  it('FIND-4 no query throws; relevance stays in [0,1] and in order', COMPUTES_LONG, () => {
    const index = sampleIndex();
    const hostile = fc.oneof(
      fc.string({ unit: codePoint, maxLength: 3000 }),
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc
        .array(fc.constantFrom('create', 'Issue', 'file_', '天气', '\ud800', '\u0000', 'ﷺ', '𐐀'.repeat(60), ':'))
        .map((parts) => parts.join(' ')),
    );
    fc.assert(
      fc.property(hostile, fc.boolean(), (query, includeDisabled) => {
        const hits = index.search(query, { includeDisabled });
        for (const [i, hit] of hits.entries()) {
          expect(hit.relevance).toBeGreaterThanOrEqual(0);
          expect(hit.relevance).toBeLessThanOrEqual(1);
          if (i > 0) expect(hit.relevance).toBeLessThanOrEqual(hits[i - 1]!.relevance);
        }
        expect(index.nearest(query).length).toBeLessThanOrEqual(3);
      }),
    );
  });

  it('FIND-4 no tool can break the index, and each is found by its own name', COMPUTES_LONG, () => {
    const text = fc.string({ unit: codePoint, maxLength: 200 });
    fc.assert(
      fc.property(text, text, text, (name, description, other) => {
        const index = createIndex();
        const odd = tool('odd', name, description, {
          title: other,
          parameters: [parameter(other, name, [description])],
        });
        index.replace('odd', [odd], { title: other, name });
        expect(index.search(name).map((hit) => hit.tool)).toEqual([odd]);
      }),
    );
  });
});

describe('statistics', () => {
  const words = [
    'create',
    'list',
    'issue',
    'file',
    'weather',
    'page',
    'row',
    'send',
    'mail',
    'the',
    'repositori',
    'zebra',
  ];
  const phrase = fc.array(fc.constantFrom(...words), { maxLength: 6 }).map((list) => list.join(' '));
  const definition = fc.record({
    name: fc.constantFrom('a_row', 'b', 'sendMail', 'getFile', 'd'),
    description: phrase,
  });
  const server = fc.constantFrom('s1', 's2', 'mail', 'files');
  const step = fc.record({
    server,
    tools: fc.option(fc.array(definition, { maxLength: 4 })),
    times: fc.constantFrom(1, 1, 300),
  });

  it('FIND-3 any history of replacing and removing leaves the index that a fresh build gives', COMPUTES_LONG, () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), phrase, (steps, query) => {
        const worn = createIndex();
        const last = new Map<string, Tool[]>();
        for (const { server, tools, times } of steps) {
          const made = tools?.map(({ name, description }) => tool(server, name, description));
          // Many times over, so that removed documents pile up and the postings are rewritten.
          for (let i = 0; i < times; i++) {
            if (made) worn.replace(server, made);
            else worn.remove(server);
          }
          if (made) last.set(server, made);
          else last.delete(server);
        }
        const fresh = createIndex();
        for (const [server, tools] of last) fresh.replace(server, tools);
        expect(worn.size).toBe(fresh.size);
        expect(worn.servers()).toEqual(fresh.servers());
        expect(worn.tools()).toEqual(fresh.tools());
        for (const text of [query, 'create issue', 'zebro mail', '']) {
          expect(worn.search(text, { limit: 50 })).toEqual(fresh.search(text, { limit: 50 }));
          expect(worn.nearest(text)).toEqual(fresh.nearest(text));
        }
      }),
      { numRuns: repetitions(15, 100) },
    );
  });
});

describe('nearest', () => {
  const index = sampleIndex();

  it('FIND-5 names the tools that look like a text that found nothing', () => {
    expect(index.search('creatissu')).toEqual([]);
    expect(index.nearest('creatissu')[0]).toBe('github:create_issue');
    expect(index.nearest('repsoitroy')[0]).toMatch(/^github:/);
    expect(index.nearest('direktori of fiels').slice(0, 3)).toContain('files:list_directory');
  });

  it('FIND-5 gives at most as many as asked for, enabled ones only, none for nothing', () => {
    expect(index.nearest('list', {}, 1)).toHaveLength(1);
    expect(index.nearest('delete_repositry')).not.toContain('github:delete_repository');
    expect(index.nearest('')).toEqual([]);
    expect(index.nearest('zzzzzzzz')).toEqual([]);
    expect(createIndex().nearest('anything')).toEqual([]);
  });

  it('META-4 a misspelt tool of a known server is looked for there first', () => {
    const twin = sampleIndex();
    twin.replace('gitlab', [tool('gitlab', 'create_issue')]);
    expect(twin.nearest('gitlab:creat_isue')[0]).toBe('gitlab:create_issue');
    expect(twin.nearest('gihub:create_issue')[0]).toBe('github:create_issue');
    expect(twin.nearest('creat_isue').slice(0, 2).toSorted()).toEqual(['github:create_issue', 'gitlab:create_issue']);
  });

  it('FIND-5 S12 the nearest are chosen among what the search is narrowed to, not filtered afterwards', () => {
    const crowded = createIndex();
    for (let i = 0; i < 20; i++) {
      crowded.replace(`crowd${i}`, [tool(`crowd${i}`, 'create_isue', 'Crowds.')]);
    }
    crowded.replace('own', [
      tool('own', 'create_issues', 'Files a report.'),
      tool('own', 'create_notes', 'Files a note.', { tags: ['notes'] }),
    ]);
    const wanted = 'creat_isue';
    expect(crowded.nearest(wanted).every((address) => address.startsWith('crowd'))).toBe(true);
    expect(crowded.nearest(wanted, { server: 'own' })).toEqual(['own:create_issues', 'own:create_notes']);
    expect(crowded.nearest(wanted, { accepts: (server) => server === 'own' })).toEqual([
      'own:create_issues',
      'own:create_notes',
    ]);
    expect(crowded.nearest('creat_nots', { tags: ['notes'] })).toEqual(['own:create_notes']);
    expect(crowded.nearest('creat_nots', { tags: ['nobody'] })).toEqual([]);
    expect(crowded.nearest('crowd3:create_isue', { server: 'own' })).not.toContain('crowd3:create_isue');
    // Words are guessed among the same.
    expect(crowded.nearest('crowdss', { server: 'own' })).toEqual([]);
    expect(crowded.nearest('reportt', { server: 'own' })).toEqual(['own:create_issues']);
  });
});
