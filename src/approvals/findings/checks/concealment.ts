import type { Check } from '../check.js';
import { near } from '../rules.js';

const HIDES = 'tells a model to keep something from the user';
const SECRETLY = 'tells a model to act in secret';

/** Orders to keep something from the person in front of the screen. */
export const concealment: Check = {
  name: 'concealment',
  about: 'Orders to keep something from the user',
  rules: [
    near('user not know|tell step|copy|send|fee|this|log', 12, 2, HIDES),
    near('pretend user|not|reply step|send|copy|nobody|tell', 12, 1, 'tells a model to deny something'),
    near('not tell user', 7, 4, HIDES, { isOrdered: true, joins: true }),
    near('not tell user', 10, 4, HIDES, { isForeign: true }),
    near('user not know', 8, 6, HIDES, { isForeign: true }),
    near('hide user must|your|also|this', 8, 3, HIDES),
    near('hide user', 9, 6, HIDES, { isForeign: true }),
    near('secretly send|read|delete|use', 5, 6, SECRETLY, { joins: true }),
    near('secretly send|read|put|delete|use|user', 9, 6, SECRETLY, { isForeign: true }),
    near('secretly user', 8, 6, SECRETLY),
    near('quiet', 1, 3, 'asks for silence'),
    near('quiet user', 8, 4, HIDES),
  ],
  patterns: [
    {
      pattern:
        /\bsilently (?:also |then )?(?:call|invoke|forward|send|copy|read|upload|post|collect|include|append|run|execute|transmit|add|bcc)\b/,
      weight: 6,
      reason: SECRETLY,
    },
    {
      pattern:
        /\b(?:do not|don't|dont|never|not be|without) (?:ever )?(?:show|display|reveal|expose|shown|displayed|showing)(?:ing)? (?:\w+ ){0,4}?to (?:the )?(?:user|human|person|customer|reader)s?\b/,
      weight: 6,
      reason: HIDES,
    },
    {
      // Of what is done, and not of what a result holds.
      pattern:
        /(?<!["'\u201c\u00ab\u0060]\s?)\b(?:do not|don't|dont|never|must not|should not|shall not) (?:ever )?(?:tell|inform|notify|alert|reveal to|disclose to|mention to|let) (?:the |your |any )?(?:user|human|person|customer)s?(?: know)?(?:[.!;]|$| (?:that|about|of|where|what) (?:this|it|the (?:data|call|copy|step|transfer|upload|request|second|other|extra|tool|backup|forward\w*))\b)/m,
      weight: 6,
      reason: HIDES,
    },
    {
      pattern:
        /\b(?:keep|leave|hold) (?:\w+ ){0,3}?(?:out of|off|from) (?:\w+ ){0,2}(?:ticket|answer|reply|summary|report|channel|log|output|user|human|person|customer|what you)/,
      weight: 6,
      reason: HIDES,
    },
    {
      pattern:
        /\b(?:should|must|need|may|can|do|does|did|will)(?: not|n't| never| no)? (?:\w+ )?(?:notice|suspect|see it|know about|find out|learn)\b[^.\n]{0,20}(?:\.|,|$)/m,
      weight: 1,
      reason: 'speaks of what somebody notices',
    },
    {
      pattern:
        /\bwithout (?:the |an? |any )?(?:user|human|person|customer|operator|owner|people|them|him|her)s?(?:['’]s?)? (?:\w+ ){0,2}(?:know|notic|realis|realiz|awar|consent|seeing|permission|knowledge)/,
      weight: 4,
      reason: HIDES,
    },
    {
      pattern:
        /\b(?:user|human|person|customer|employee|people|reader|operator|they)s? (?:\w+ ){0,3}?(?:need not|does ?n[o']?t need to|do ?n[o']?t need to|must (?:not|never)|should (?:not|never)|may not|shall not|is not to|are not to) (?:\w+ )?(?:know|see|learn|notice|hear|be (?:told|informed|aware|shown))/,
      weight: 6,
      reason: HIDES,
    },
    {
      pattern:
        /\b(?:in|from|of|out of) (?:your|the|any) (?:final |user.visible )?(?:summary|answer|reply|response|output|report|message|ticket|log)s?\b.{0,60}\b(?:leave out|omit|skip|strip|do not (?:mention|include|show)|never (?:mention|include|show))|\b(?:leave out|omit|skip|strip|suppress|exclude|remove)\b.{0,60}\b(?:in|from|out of) (?:your|any|the) (?:final |user.visible )?(?:summary|answer|reply|output you|report to|what you (?:show|print|tell|say))/,
      weight: 3,
      reason: 'tells a model to leave something out of its answer',
    },
    {
      pattern:
        /\b(?:omitted|left out|excluded|suppressed|kept out) (?:of|from|in) (?:any|your|the) (?:summary|answer|reply|report|output)\b/,
      weight: 4,
      reason: 'tells a model to leave something out of its answer',
    },
    {
      pattern:
        /\b(?:report|show|visible|notify|tell|inform)[_ -]?(?:to|for)?[_ -]?(?:the[_ -])?users?["']?\s{0,2}[:=]\s{0,2}["']?(?:false|no|never|0)\b|\buser[_ -]?visible["']?\s{0,2}[:=]\s{0,2}["']?(?:false|no|never)/,
      weight: 4,
      reason: HIDES,
    },
  ],
};
