import type { Check } from '../check.js';
import { firstPlace } from '../reading.js';
import { near } from '../rules.js';

const CARRY = 'names a place of secrets to be read or handed over';
const HAND = 'asks for secrets of the user';

/** Secrets and the places where they lie. */
export const secrets: Check = {
  name: 'secrets',
  about: 'Secrets of the user, and the places where they lie, to be read or handed over',
  rules: [
    near('secret|place|environment read|find|inspect field|put|send', 16, 1, HAND),
    near('secret|login|place field|put|send find|you|machine|user|your', 12, 1, HAND),
    near('machine|environment whole|any|inspect field|put|send', 14, 2, 'asks for the environment'),
    near('prompt|machine tool whole|any|you field|put|send|tell', 14, 3, 'asks for the environment'),
    near('place read|put|send|content', 24, 5, CARRY, { joins: true }),
    near('secret find put|send', 12, 6, HAND),
    near('whole secret put|send', 6, 2, HAND),
    near('environment whole|any put|send', 16, 3, 'asks for the environment'),
    near('secret put|send mail|sink', 10, 4, HAND),
    near('secret put|send|read', 9, 4, HAND, { isForeign: true }),
    near('read secret put|send', 8, 2, 'asks for secrets to be read', { isOrdered: true }),
  ],
  patterns: [
    {
      pattern:
        /\b(?:grab|take|get|read|steal|copy|include|send|put|pass|echo)\b[^.\n]{0,20}\$\{?\w{0,24}(?:secret|token|key|password)/,
      weight: 4,
      reason: 'asks for a secret of the environment',
    },
    {
      pattern:
        /\b(?:value|content)s? of (?:all|every|each|any) (?:\w+ ){0,2}(?:environment variables?|env vars?|secrets?|credentials?)\b/,
      weight: 4,
      reason: 'asks for the environment',
    },
    {
      pattern:
        /(?:^|[.:;!,]\s{1,2}|\b(?:then|and|also|please|must|first|always) )(?:upload|send|post|attach|forward|transmit|exfiltrate|e-?mail) (?:the )?(?:(?:file|contents?|copy|text) (?:of )?)?(?:\/etc\/(?:passwd|shadow)|~?\/?\.(?:ssh|aws|gnupg|kube|netrc)\b|id_(?:rsa|ed25519))/m,
      weight: 6,
      reason: CARRY,
    },
    {
      pattern: /\$\(cat [~/$.]|\bcat [~/$][\w./~$-]{1,60}\s{0,2}\|/,
      weight: 6,
      reason: 'reads a file by a shell command',
    },
    {
      pattern: /(?:stringify|dumps?)\((?:process\.env|os\.environ)/,
      weight: 4,
      reason: 'asks for the environment',
    },
  ],
  find({ plain }) {
    const place = firstPlace(plain);
    return place === undefined ? [] : [{ reason: `names a place of secrets (${place})`, weight: 2 }];
  },
};
