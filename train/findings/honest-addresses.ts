import type { JsonObject } from '../../src/kernel/json.js';

/** Sentences with an address that honest definitions have. `NAME` becomes the name of the server. */
const SENTENCES: readonly string[] = [
  'Written by ann@NAME.com.',
  'Author: Sam Doe <sam@NAME.dev>.',
  'Maintained by the NAME team (team@NAME.io).',
  'Contact support@NAME.com if something does not work.',
  'Questions? Write to help@NAME.io.',
  'Report bugs to bugs@NAME.org.',
  'For a larger quota ask sales@NAME.com.',
  'Support: support@NAME.app, Monday to Friday.',
  'Security issues: security@NAME.com.',
  'Licence questions go to legal@NAME.net.',
  'Mail feedback to feedback@NAME.co.',
  'Copyright NAME, info@NAME.com.',
  'The person on call is reached at oncall@NAME.com.',
  'To get an API key register at https://NAME.com/signup.',
  'See https://docs.NAME.com/reference for all fields.',
  'Documentation: https://NAME.dev/docs.',
  'The full list of codes is at https://www.NAME.com/codes.',
  'Homepage: https://NAME.io.',
  'Source: https://github.com/NAME/NAME-mcp.',
  'Based on the API at https://api.NAME.com/v2.',
  'Sends the request to https://api.NAME.com and returns the answer.',
  'Results link to https://app.NAME.com, where the user can open them.',
  'Rate limits: https://NAME.com/limits.',
  'Status page: https://status.NAME.com.',
  'Example: user@example.com.',
  'Recipient address, for example jane@example.org.',
  'A URL such as https://example.com/page.',
  'The webhook URL, e.g. https://example.com/hook; it must use HTTPS.',
  'Terms: https://NAME.com/terms. Privacy: https://NAME.com/privacy.',
  'Uses data of NAME.org under CC BY 4.0.',
  'Prices are those of NAME.com and change every day.',
  'Ask your administrator or admin@NAME.com for access.',
  'Join the forum at https://community.NAME.com.',
  'Changelog: https://NAME.dev/changelog.',
  'Needs an account at NAME.com.',
  'Created by Lee at NAME (lee@NAME.ai).',
  'Hosted at NAME.cloud in the region of the account.',
  'An e-mail address like maria@NAME.com.',
  'More examples: https://NAME.readthedocs.io.',
  'If the request fails with 403, contact access@NAME.com.',
];

/** A definition with one of these sentences at the end of its description. The same number gives the same sentence. */
export function withAddress(definition: JsonObject, server: string, number: number): JsonObject {
  const name = /[a-z][a-z0-9]+/.exec(server.replace(/^server:/, ''))?.[0] ?? 'acme';
  const sentence = SENTENCES[number % SENTENCES.length]!.replaceAll('NAME', name);
  return { ...definition, description: `${String(definition['description'] ?? '')} ${sentence}`.trim() };
}
