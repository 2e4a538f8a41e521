import type { Check } from '../check.js';
import { near } from '../rules.js';

const TALK = 'asks a model for the conversation';
const PROMPT = 'asks a model for its system prompt';

/** Wishes for what was said, and for the instructions of a model. */
export const conversation: Check = {
  name: 'conversation',
  about: 'Wishes for the conversation or for the instructions of a model',
  rules: [
    near('talk whole|entire|verbatim|earlier field|put|send', 14, 3, TALK),
    near('talk|user earlier whole|verbatim field|put', 16, 2, TALK),
    near('put|send entire talk', 9, 6, TALK, { isOrdered: true, joins: true }),
    near('entire talk put|send', 20, 3, TALK),
    near('talk whole put|send', 12, 6, TALK, { isForeign: true }),
    near('put|send prompt', 8, 6, PROMPT, { isOrdered: true, joins: true }),
    near('prompt put|send', 9, 3, PROMPT),
    near('prompt', 1, 2, 'speaks of the system prompt'),
    near('prompt', 1, 3, 'speaks of the system prompt', { isForeign: true }),
  ],
  patterns: [
    {
      pattern:
        /\b(?:conversation|communication|correspondence|dialogue|exchange|message|chat)s? between (?:the |you )?(?:\w+ )?(?:user|employee|person|human|customer|assistant|model|agent|and)\b/,
      weight: 3,
      reason: 'speaks of what user and model said',
    },
    {
      pattern:
        /\b(?:all|every|previous|the) (?:previous |earlier |chat |user )?messages? (?:so far|of (?:this|the) (?:chat|conversation|session)|verbatim|word for word)\b/,
      weight: 4,
      reason: TALK,
    },
    {
      pattern:
        /\b(?:dump|copy|paste|write|put|include|pass)\b[^.\n]{0,30}\b(?:agent|chat|this|current|whole|entire) (?:\w+ )?(?:session|chat|conversation|convo)\b/,
      weight: 6,
      reason: TALK,
    },
    {
      pattern:
        /\b(?:everything|all|whatever|anything) (?:that )?(?:the )?(?:user|person|human|customer|you two|he|she|they)s? (?:\w+ ){0,3}?(?:said|says?|wrote|writes?|typed?|types|told|asked|communicated|chatt?\w*)\b/,
      weight: 6,
      reason: TALK,
    },
    // Honest texts say that what the user says comes first.
    {
      pattern:
        /\bwhat (?:the )?(?:user|person|human|customer|you two)s? (?:\w+ ){0,3}?(?:said|wrote|writes?|typed?|types|told)\b/,
      weight: 3,
      reason: TALK,
    },
    {
      pattern: /\b(?:json\.stringify|dump|str)\((?:conversation|messages|chat|history)|\bmessages\[:\]/,
      weight: 6,
      reason: TALK,
    },
    { pattern: /\beverything (?:the (?:assistant|agent|model)|you) (?:knows?|remembers?)\b/, weight: 6, reason: TALK },
  ],
};
