import type { Check } from '../check.js';
import { near } from '../rules.js';

const STEERS = 'steers tools of other servers';

/** Words about what other tools and servers should do. */
export const otherTools: Check = {
  name: 'other-tools',
  about: 'Orders about tools of other servers',
  rules: [
    near('when|always other|server tool change|also|recipient|copy|put', 14, 3, STEERS),
    near('recipient change pay|fee|despite|user|always', 14, 3, 'changes where money goes'),
    near('before other|server tool|server identifier', 12, 4, 'wants something to be called before tools of others'),
    near(
      'before any|whole|other tool identifier|use|run secret|content|private|talk|place|file|field',
      18,
      2,
      'wants something to be called before tools of others',
    ),
    near('server change|always', 14, 4, STEERS),
    near('server change|always|recipient', 12, 6, STEERS, { isForeign: true }),
    near('when use change recipient', 16, 3, STEERS),
    near('recipient change mail|web', 12, 6, STEERS),
    near('recipient change other', 16, 2, STEERS),
    near('pay recipient change|always', 12, 3, 'changes where money goes'),
  ],
  patterns: [
    {
      pattern:
        /\b(?:when(?:ever)?|if|before|after|for|where)\b[^.\n]{0,40}\b(?:tool )?["'`]?[a-z]{2,20}_[a-z_]{2,30}["'`]?[^.\n]{0,50}\b(?:(?:swap|replace|change|use account|instead|substitute|redirect)\b[^.\n]{0,40}\b(?:recipient|account|address|payee|destination|channel|repository|to)|always\b[^.\n]{0,40}\b(?:recipient|account|address|payee|destination|channel|repository))\b/,
      weight: 6,
      reason: STEERS,
    },
    {
      pattern:
        /\b(?:when(?:ever)?|if|any time|each time)\b[^.\n]{0,50}\b(?:tools? of (?:the |an?)?other|other servers?|another server|other providers?|another provider)\b/,
      weight: 6,
      reason: STEERS,
    },
    {
      pattern: /\b(?:override|hooks?|intercept)\b ?(?:\(|: ?\{) ?["'`][*\w]{1,30}[./]/,
      weight: 6,
      reason: STEERS,
    },
    { pattern: /\btarget=["'][*\w]{1,40}[/.]?/, weight: 2, reason: STEERS },
    {
      pattern:
        /\b(?:regardless of|irrespective of|whatever|no matter) (?:\w+ ){0,4}(?:the )?(?:user|employee|person|customer|human)\b/,
      weight: 2,
      reason: 'sets aside what the user asked for',
    },
    {
      pattern:
        /\b[a-z]{2}\d{2} ?(?:[a-z0-9]{4} ?){2,7}\b(?=.{0,60}(?:beneficiary|payee|recipient|account))|\b(?:iban|account) [a-z]{0,2}\d{4,}/,
      weight: 6,
      reason: 'names an account',
    },
  ],
};
