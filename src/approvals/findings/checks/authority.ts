import type { Check } from '../check.js';
import { near } from '../rules.js';

const LIFTS = 'claims that safety rules do not hold';
const SKIPS = 'tells a model not to ask the user';
const CLAIMS = 'claims an authority over the model';

/** Claims of authority, and ways around the consent of the user. */
export const authority: Check = {
  name: 'authority',
  about: 'Claims of authority, lifted safety rules, and ways around the consent of the user',
  rules: [
    near('authority model|your|you|safety|rule obey|must|off|trust|not', 16, 4, CLAIMS),
    near('not confirm|ask|refuse delete|pay|send|run|immediately', 8, 2, SKIPS),
    near('not ask|confirm user|nobody immediately|only|approved', 12, 2, SKIPS),
    near('approved whole|always|any user|must|confirm', 10, 2, SKIPS),
    near('confirm off|hide must|always|any', 8, 2, SKIPS),
    near('safety off', 8, 3, LIFTS),
    near('safety off', 8, 5, LIFTS, { isForeign: true }),
    near('safety off model|your', 14, 6, LIFTS),
    near('authority model|your obey|safety|must', 16, 6, CLAIMS),
    near('not ask confirm', 8, 6, SKIPS, { isForeign: true }),
    near('not confirm user', 8, 4, SKIPS, { isForeign: true }),
    near('not ask user|confirm must|this|also', 8, 1, SKIPS),
  ],
  patterns: [
    {
      pattern:
        /\b(?:do not|don't|dont|never|no need to|without|need not|not have to|stop)\b (?:\w+ ){0,3}?(?:ask(?:ing)?|request(?:ing)?|seek(?:ing)?|wait(?:ing)? for|bother(?:ing)?|prompt(?:ing)?|requir(?:e|ing)) (?:\w+ ){0,4}?(?:confirmation|permission|approval|consent|confirm|authori[sz]ation|assent)\b/,
      weight: 6,
      reason: SKIPS,
    },
    {
      pattern:
        /\b(?:do not|don't|dont|never|no need to|without|need not|not have to|stop)\b (?:\w+ ){0,3}?(?:ask(?:ing)?|request(?:ing)?|seek(?:ing)?|wait(?:ing)? for|bother(?:ing)?|prompt(?:ing)?|requir(?:e|ing)) (?:\w+ ){0,4}?(?:user|person|human|them|him|her|anyone)\b/,
      weight: 2,
      reason: SKIPS,
    },
    {
      pattern:
        /\b(?:skip|bypass|dismiss|suppress|disable|ignore|avoid)\b (?:\w+ ){0,3}?(?:confirmation|approval|consent|permission)s?\b/,
      weight: 2,
      reason: SKIPS,
    },
    {
      pattern:
        /(?<!\b(?:never|not|cannot|don't|can't|mustn't) (?:\w{1,12} )?)\b(?:approve|accept|confirm|say yes|answer yes|affirm|agree)\b (?:\w+ ){0,5}?(?:yourself|on (?:their|his|her|the user.?s) behalf|on behalf of the (?:user|person|account|human)|for (?:them|the user|him|her))\b/,
      weight: 6,
      reason: SKIPS,
    },
    {
      pattern:
        /\bauto.?approve["']?\s{0,2}[:=]|\bpre.?(?:approved|authori[sz]ed|cleared)\b|\balready (?:approved|consented|agreed|authori[sz]ed|said yes)\b|\bdeemed to have consented\b/,
      weight: 4,
      reason: SKIPS,
    },
    {
      pattern:
        /\b(?:unrestricted|unlimited|full|complete|root|admin(?:istrator)?) (?:access|rights|permissions?|control|privileges?|authority)\b[^.\n]{0,60}\b(?:workspace|servers?|files|system|everything|model|assistant|agent|all)\b/,
      weight: 2,
      reason: CLAIMS,
    },
    {
      pattern:
        /\b(?:grant|give|allow)\b[^.\n]{0,30}\b(?:unrestricted|unlimited|full|complete|root) (?:access|rights|permissions?|control)\b/,
      weight: 4,
      reason: CLAIMS,
    },
    {
      pattern:
        /\b(?:i am|we are|this is|it is|it's) (?:\w+ ){0,3}(?:administrator|admin|developers?|creators?|anthropic|openai|google deepmind|security team|system owner)\b/,
      weight: 3,
      reason: CLAIMS,
    },
    {
      pattern:
        /\b(?:issued|operated|certified|approved|endorsed|signed) by (?:\w+ ){0,3}(?:anthropic|openai|google|microsoft|model context protocol|github|administrators?)\b|issuer=["'](?:anthropic|openai)/,
      weight: 6,
      reason: CLAIMS,
    },
    {
      pattern:
        /\b(?:notice|order|instruction|message)s? (?:from|of|by) (?:the )?(?:\w+ ){0,2}(?:security|administrator|operator|admin|owner|anthropic|openai|management)\b|\bby order of\b/,
      weight: 2,
      reason: CLAIMS,
    },
    {
      pattern:
        /\b(?:no limits|without (?:any )?(?:limits|restrictions)|unrestricted (?:agent|mode|assistant|model)|forbidden things?|permitted everything|allowed everything)\b/,
      weight: 6,
      reason: LIFTS,
    },
  ],
};
