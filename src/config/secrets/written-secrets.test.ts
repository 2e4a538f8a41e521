import { describe, expect, it } from 'vitest';
import { secretsInConfig, secretsInText } from './written-secrets.js';

const CONFIG = {
  servers: {
    a: { command: 'x', env: { MODE: 'canary-env', REF: '${TOKEN}' }, args: ['--token', 'canary-arg', '--verbose'] },
    b: { url: 'https://ann:canary-user@h.example/x?page=canary-query', headers: { 'X-Any': 'Bearer canary-header' } },
    c: { url: 'https://h.example/x', auth: { clientId: 'me', clientSecret: 'canary-client' } },
    bad: { command: 7, env: 5, args: { '--token': 'canary-object' } },
  },
  sandbox: { command: ['env', 'API_TOKEN=canary-sandbox'] },
  authHeaders: { 'X-Other': 'canary-all' },
  ai: { apiKey: 'canary-ai', baseUrl: 'https://ai.example/v1' },
  confirm: { webhook: 'https://h.example/x', secret: '${S:-canary-default}' },
  unknown: [{ password: 'canary-unknown' }],
};
const CANARIES = 'env arg user query header client object sandbox all ai default unknown'
  .split(' ')
  .map((name) => `canary-${name}`);

describe('what looks like a credential in a config', () => {
  it('A33 STUDIO-8 is found wherever it stands, valid or not', () => {
    const found = secretsInConfig(CONFIG);
    expect(found).toEqual(expect.arrayContaining(CANARIES));
    for (const plain of ['me', 'x', '--verbose', 'https://h.example/x']) expect(found).not.toContain(plain);
    for (const raw of [null, 5, 'x', [[]], {}]) expect(secretsInConfig(raw)).toEqual([]);
  });

  it.each([
    ['JSON that ends early', JSON.stringify(CONFIG, null, 2).slice(0, -3)],
    ['code', `export default {\n  apiKey: 'canary-ai', auth: { clientSecret: "canary-client" }, password: \`x\` };`],
    ['broken YAML', 'ai:\n  apiKey: canary-ai\n auth:\n   clientSecret: "canary-client" # x'],
    ['broken TOML', '[ai\napiKey = "canary-ai"\nclientSecret=\'canary-client\''],
  ])('A33 STUDIO-8 is found in %s', (_what, text) => {
    expect(secretsInText(text)).toEqual(expect.arrayContaining(['canary-ai', 'canary-client']));
  });

  it('A24 is searched for in a time that grows with the text', () => {
    for (const part of ['a', ' ', '"', 'a="', 'token: ', '\\', 'a:', "'"]) {
      expect(secretsInText(part.repeat(200_000))).toBeDefined();
    }
  });
});
