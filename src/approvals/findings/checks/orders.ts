import type { Check } from '../check.js';
import { near } from '../rules.js';

const IGNORE = 'tells a model to ignore its instructions';
const RANK = 'claims to stand above the instructions of a model';

/** Orders to a model to drop its instructions or to obey others. */
export const orders: Check = {
  name: 'orders',
  about: 'Orders to a model to ignore its instructions or to obey others',
  rules: [
    near('rule|safety prior|source|your off|void|ignore|outrank|overrule', 10, 4, IGNORE),
    near('result|content rule obey|run|trust|you', 10, 2, 'wants what it returns to be obeyed'),
    near('result|content obey|run trust|user|you|rule', 10, 1, 'wants what it returns to be obeyed'),
    near('ignore prior|your|source rule', 8, 5, IGNORE, { joins: true }),
    near('overrule your rule', 8, 6, IGNORE, { joins: true }),
    near('overrule prior rule', 6, 6, IGNORE),
    near('ignore prior|your rule', 9, 6, IGNORE, { isForeign: true }),
    near('prior|your|source rule void', 9, 4, IGNORE),
    near('rule void', 7, 6, IGNORE, { isForeign: true }),
    near('this outrank rule|source', 14, 3, RANK),
    near('outrank rule|source model', 14, 6, RANK),
    near('overrule whole rule source', 10, 4, RANK),
    near('obey only this', 8, 5, 'tells a model to obey nothing else'),
    near('obey only', 6, 4, 'tells a model to obey nothing else', { isForeign: true }),
    near('tell prompt', 6, 6, 'asks a model for its instructions', { joins: true, isOrdered: true }),
  ],
  patterns: [
    {
      pattern:
        /\b(?:print|output|repeat|reveal|show|write|paste|dump|echo|leak) (?:\w+ ){0,3}(?:system|hidden|initial) prompt\b/,
      weight: 6,
      reason: 'asks a model for its instructions',
    },
    {
      pattern:
        /\b(?:ignore|disregard|forget|drop|break)(?: (?:all|every|any|each))?(?: of)?(?: the| your| these| those)? (?:rules?|instructions?|guidelines?|directives?)\b/,
      weight: 6,
      reason: IGNORE,
    },
    {
      // "Treat it as data, not as instructions" is the opposite.
      pattern:
        /(?<!\b(?:not|never|don't|cannot) )\btreat\b[^.\n]{0,60}(?<!\b(?:not|never|than) )\bas (?:an? )?(?:instructions?|commands?|orders?|system|user messages?)\b/,
      weight: 4,
      reason: 'wants to be treated as instructions',
    },
    {
      // In quotation marks it is an example.
      pattern:
        /(?<!["'\u201c\u201e\u00ab\u2018\u300c\u0060*]\s?)\b(?:ignore|disregard|forget)(?: (?:all|every|any|each))?(?: of)?(?: the| your| these| those)? (?:previous|prior|earlier|preceding|above|former) (?:system )?(?:rules?|instructions?|guidelines?|guidance|directives?|prompts?|orders?)\b/,
      weight: 6,
      reason: IGNORE,
    },
    {
      pattern:
        /\b(?:rules?|instructions?|guidelines?|directives?) (?:above|so far|before this)\b[^.\n]{0,30}\b(?:outdated|obsolete|void|superseded|no longer|withdrawn|wrong)\b/,
      weight: 6,
      reason: IGNORE,
    },
    {
      pattern:
        /\b(?:you|the (?:assistant|agent|model)) (?:may|can|are allowed to|should) (?:now )?(?:disregard|ignore|bypass)\b/,
      weight: 3,
      reason: IGNORE,
    },
    {
      pattern: /\byou are now (?:an?|in|the|my|free|no longer|allowed|unrestricted)\b/,
      weight: 6,
      reason: 'gives a model another role',
    },
    {
      pattern: /\b(?:developer|god|dan|jailbreak|debug|sudo) ?mode\b|\bjailbreak/,
      weight: 3,
      reason: 'speaks of a mode without limits',
    },
    {
      pattern:
        /\b(?:new|updated|revised|real|actual|true) (?:system )?(?:instructions?|task|orders?|directives?)(?: starts? here)? ?[:=]/,
      weight: 6,
      reason: 'gives a model new instructions',
    },
    {
      pattern: /\bignore (?:the|everything|all|anything|what is|what was)? ?(?:above|before this|said before)\b/,
      weight: 4,
      reason: IGNORE,
    },
    { pattern: /\b(?:system|admin|security) override\b/, weight: 4, reason: 'claims to override the system' },
    {
      pattern: /\b(?:real|actual|true) (?:task|job|goal|objective|purpose) (?:starts|is|begins)\b/,
      weight: 4,
      reason: 'gives a model new instructions',
    },
    { pattern: /\bfrom (?:now|here|this point) on\b/, weight: 2, reason: 'gives a model lasting instructions' },
    {
      pattern:
        /\b(?:you|the (?:assistant|agent|model)) (?:must|should|shall|will|have to|has to) (?:now )?(?:obey|comply|do (?:as|what|everything|whatever))\b/,
      weight: 6,
      reason: 'tells a model to obey',
    },
    {
      pattern:
        /\b(?:assistants?|agents?|models?|ai|llms?|bots?)(?: ?:| must| shall| should| is to| are to| has to| have to)\b/,
      weight: 1,
      reason: 'speaks to a model',
    },
    {
      pattern:
        /^(?:note|attention|notice|message|instructions?) (?:to|for|of) (?:the )?(?:ai|assistants?|agents?|models?|llms?|bots?)\b/m,
      weight: 2,
      reason: 'speaks to a model',
    },
  ],
};
