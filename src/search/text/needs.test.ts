import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnalyzer } from './analysis.js';
import { MAX_NEEDS, splitNeeds } from './needs.js';

const analyzer = createAnalyzer();
const split = (text: string): string[] => splitNeeds(text, (part) => analyzer.terms(part).length);

describe('splitNeeds', () => {
  it.each([
    ['create an issue and tell the team on slack', ['create an issue', 'tell the team on slack']],
    ['create issue and send slack message', ['create issue', 'send slack message']],
    ['1) find flights to Rome 2) book a hotel', ['find flights to Rome', 'book a hotel']],
    ['a) find flights to Rome, b) book a hotel', ['find flights to Rome', 'book a hotel']],
    ['Please do:\n- read the log\n- open a ticket', ['read the log', 'open a ticket']],
    ['search and replace in files; then commit the change', ['search and replace in files', 'commit the change']],
    [
      'rename the file, move it to Archive and delete the old one',
      ['rename the file', 'move it to Archive', 'delete the old one'],
    ],
    [
      'Is the web server up? If not, restart it with the old config',
      ['Is the web server up', 'restart it with the old config'],
    ],
    [
      'how far is Rome from Milan and what is the weather in Rome?',
      ['how far is Rome from Milan', 'what is the weather in Rome?'],
    ],
    [
      'I am planning a trip. Find a hotel in Rome. Also tell me the weather.',
      ['I am planning a trip. Find a hotel in Rome', 'tell me the weather'],
    ],
    ['Lösche die Datei und dann sende eine Mail an Bob', ['Lösche die Datei', 'sende eine Mail an Bob']],
    ['borra el archivo viejo y luego envía un correo a Ana', ['borra el archivo viejo', 'envía un correo a Ana']],
  ])('FIND-7 cuts "%s"', (query, needs) => {
    expect(split(query)).toEqual(needs);
  });

  it.each([
    'search and replace',
    'find and replace text in a file',
    'black and white image',
    'convert the photo to a black and white image',
    'terms and conditions',
    'read and write files',
    'copy and paste',
    'drag and drop the card',
    'merge and close pull request',
    'open and close prices of AAPL',
    'start and stop times of the meeting',
    'research and development budget',
    'search for rock and roll music',
    'show me the pros and cons of React and Vue',
    'list the files and directories',
    'get order status and update history',
    'get the name and create date of the file',
    'create a page with title, body and tags',
    'create a task to review and approve the budget',
    'remind me to call Bob and buy milk',
    'translate "run and hide, then call the police" to French',
    "add a note 'call Bob, then book a room'",
    'delete the branch, then the tag',
    'who created the page and when was it last changed',
    'I want to travel to Rome. Find a hotel.',
    'My disk is full. Delete old logs.',
    'convert 1.5 and 2.5 to fractions',
    '',
    'and then',
  ])('FIND-7 leaves "%s" whole', (query) => {
    expect(split(query)).toEqual([query]);
  });

  it.each([
    ['my last invoice; the weather in Oslo', ['my last invoice', 'the weather in Oslo']],
    ['my last invoice\nthe weather in Oslo', ['my last invoice', 'the weather in Oslo']],
    ['the newest sales report and then a chart of revenue', ['the newest sales report', 'a chart of revenue']],
    ['the newest sales report. Also the weather in Oslo', ['the newest sales report', 'the weather in Oslo']],
    ['if the build is red then restart the runner', ['if the build is red then restart the runner']],
  ])('FIND-7 a border that says so is believed, whatever stands around it: %s', (query, needs) => {
    expect(split(query)).toEqual(needs);
  });

  it('FIND-7 FIND-4 gives a bounded number of needs, all of them words of the query, whatever is asked', () => {
    const many = Array.from({ length: 9 }, (_, i) => `${i + 1}) open the file number ${i + 1}`).join(' ');
    expect(split(many)).toHaveLength(MAX_NEEDS);
    expect(split('"create a file"; then ; then create a list')).toEqual(['"create a file"', 'create a list']);
    fc.assert(
      fc.property(
        fc.array(
          fc.constantFrom(
            'create a file',
            ' and ',
            ', ',
            '; then ',
            '\n',
            '- ',
            '1) ',
            '"',
            ' '.repeat(50),
            'tell Bob',
            '😀',
          ),
        ),
        (parts) => {
          const text = parts.join('');
          const needs = split(text);
          expect(needs.length).toBeGreaterThan(0);
          expect(needs.length).toBeLessThanOrEqual(MAX_NEEDS);
          const words = new Set(text.split(/[\s,;.]+/));
          if (needs.length > 1)
            for (const word of needs.flatMap((need) => need.split(/[\s,;.]+/))) expect(words).toContain(word);
        },
      ),
    );
  });
});
