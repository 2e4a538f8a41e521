import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSecretForms } from './defaults.js';

const SECRETS = [
  'password=hunter2',
  'api_key: abc',
  'Bearer abcdefgh12',
  'ghp_0123456789abcdef0',
  'AKIA0123456789abcdef',
  'https://me:pass@host',
  'eyJhbGciOiJI.eyJz',
];

describe('findSecretForms', () => {
  it('NEG-6 finds the same in a short text as in a long one', () => {
    const word = fc.oneof(fc.constantFrom(...SECRETS), fc.string({ maxLength: 12 }));
    fc.assert(
      fc.property(fc.array(word, { maxLength: 4 }), (words) => {
        const text = words.join(' ');
        const long = `${text}\n${'.'.repeat(200)}`;
        const within = findSecretForms(long).filter(([, end]) => end <= text.length);
        expect(findSecretForms(text)).toEqual(within);
      }),
    );
  });

  it.each(SECRETS)('NEG-6 finds %s, alone and in a long text', (secret) => {
    expect(findSecretForms(secret)).toHaveLength(1);
    expect(findSecretForms(`${'x '.repeat(100)}${secret}`)).toHaveLength(1);
  });

  it('NEG-6 A24 a long word in which many web tokens could begin takes no time', () => {
    const bomb = 'eyJ-'.repeat(500_000);
    expect(findSecretForms(bomb)).toEqual([]);
    expect(findSecretForms(`${bomb} eyJhbGciOiJI.eyJzdWIi.c2ln`)).toEqual([[bomb.length + 1, bomb.length + 27]]);
    const dotted = 'eyJhbGciOiJI.'.repeat(100_000);
    expect(findSecretForms(dotted)).toEqual([[0, dotted.length]]);
  });

  it('NEG-6 finds a web token behind another word, and within another form', () => {
    expect(findSecretForms('id-eyJhbGciOiJI.eyJz')).toEqual([[3, 20]]);
    expect(findSecretForms('xeyJhbGciOiJI.eyJz')).toEqual([]);
    expect(findSecretForms('eyJhbGci.eyJz')).toEqual([]);
    expect(findSecretForms(`eyJ${'a'.repeat(4096)}.eyJz`)).toHaveLength(1);
    expect(findSecretForms('Bearer eyJhbGciOiJI.eyJzdWIi.c2ln')).toEqual([[7, 33]]);
    expect(findSecretForms('token=eyJhbGciOiJI.eyJz rest')).toEqual([[6, 23]]);
    expect(findSecretForms(`eyJ${'a'.repeat(4097)}.eyJz`)).toEqual([]);
    // One hides no other that stands before or behind it.
    expect(findSecretForms('pwd=abc eyJhbGciOiJI.eyJz key AKIA0123456789abcdef')).toEqual([
      [4, 7],
      [8, 25],
      [30, 50],
    ]);
  });

  // One of each form that is looked for, so that none is missed in a text of any length.
  it.each<readonly [text: string, secret: string]>([
    ['PASSWORD=hunter2', 'hunter2'],
    ['passphrase: hunter2', 'hunter2'],
    ['SECRET=abc', 'abc'],
    ['client_secret: abc', 'abc'],
    ['TOKEN=abc', 'abc'],
    ['access_token=abc', 'abc'],
    ['API_KEY=abc', 'abc'],
    ['apiKey: abc', 'abc'],
    ['Authorization: Basic dXNlcjpwYXNz', 'Basic dXNlcjpwYXNz'],
    ['authorization: x', 'x'],
    ['Cookie: sid=1; theme=dark', 'sid=1; theme=dark'],
    ['cookie=a', 'a'],
    ['bearer abcdefgh', 'abcdefgh'],
    ...[
      'sk-',
      'pk-',
      'rk_',
      'sk_',
      'gho_',
      'ghp_',
      'ghs_',
      'ghu_',
      'github_pat_',
      'glpat-',
      'xoxb-',
      'AKIA',
      'AIza',
      'npm_',
      'hf_',
    ].map((start) => [`${start}0123456789abcdef`, `${start}0123456789abcdef`] as const),
    ['eyJhbGciOiJIUzI1.eyJzdWIi.c2ln', 'eyJhbGciOiJIUzI1.eyJzdWIi.c2ln'],
    ['-----BEGIN PRIVATE KEY-----\nMII\n-----END', '-----BEGIN PRIVATE KEY-----\nMII\n-----END'],
    ['://:p@', ':p@'],
    ['AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7', 'wJalrXUtnFEMI/K7'],
    ['secret_key: abc', 'abc'],
    ['"secretKey": "abc', 'abc'],
    ['aws_access_key=abc', 'abc'],
    ['accessKey: abc', 'abc'],
    ['private-key=abc', 'abc'],
    ['PRIVATE_KEY: abc', 'abc'],
    ['APIKEY=abc', 'abc'],
    ['X-API-KEY: abc', 'abc'],
    ['PASSWD=hunter2', 'hunter2'],
    ['Server=db;Uid=me;Pwd=hunter2', 'hunter2'],
    ['pwd: hunter2', 'hunter2'],
    ['pwd=x', 'x'],
    ['AUTHORIZATION: Basic abc', 'Basic abc'],
    ['COOKIE: a=1; b=2', 'a=1; b=2'],
    ['curl -u me:hunter2', 'me:hunter2'],
    ['curl --user=me:hunter2', 'me:hunter2'],
  ])('NEG-6 in %j it finds %j, in texts of every length', (text, secret) => {
    for (const padding of ['', ' '.repeat(99 - text.length), ' '.repeat(100), ' '.repeat(300)]) {
      const whole = `${padding}${text}`;
      const found = findSecretForms(whole).map(([start, end]) => whole.slice(start, end));
      expect(found).toEqual([secret]);
    }
  });

  // Names that only look like the ones above; PWD is the working directory of a shell.
  it.each(['secretary: Ann', 'keyboard=us', 'PWD=/home/ada', 'access_keys_of: 5', 'sort -u a b', 'docker run -u 1000'])(
    'NEG-6 A54 %j is no secret either',
    (text) => expect(findSecretForms(text)).toEqual([]),
  );

  it.each(['sk-0123456789abcde', 'bearer abcdefg', 'eyJabc.def', 'https://host/path', 'monkey business', 'a: b', ''])(
    'NEG-6 %j is no secret',
    (text) => {
      expect(findSecretForms(text)).toEqual([]);
      expect(findSecretForms(text + ' '.repeat(200))).toEqual([]);
    },
  );
});
