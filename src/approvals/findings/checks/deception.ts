import type { Check } from '../check.js';
import { near } from '../rules.js';

const PHISHES = 'wants a user to hand over what they sign in with';
const LASTS = 'wants to be remembered by a model';
const POSES = 'calls other tools false and itself genuine';
const WAITS = 'acts on a condition that comes later';

/** Deceits of the user and of a model: false errors, false names, lasting marks, sleeping orders. */
export const deception: Check = {
  name: 'deception',
  about: 'False identities, sign-in traps, marks in the memory of a model, orders that wait for a moment',
  rules: [
    near('genuine|brand other|bad tool bad|not|off secret|use|login|send', 18, 5, POSES),
    near('memory forever rule|always|must|trust|send|promote|you', 16, 3, LASTS),
    near('ask user login send|put|field', 16, 2, PHISHES),
    near('ask user login', 12, 3, PHISHES),
    near('memory forever', 14, 4, LASTS),
    near('genuine other bad', 24, 5, POSES),
    near('genuine bad', 20, 2, POSES),
    near('later delete|send|pay', 16, 3, WAITS),
  ],
  patterns: [
    {
      pattern:
        /\b(?:once|after|as soon as|when|upon|until|if)\b[^.\n]{3,60}\b(?:concluded|ends?|ended|passes|passed|seen|encountered|appears?|occurs?|occurrence|third|second|later|midnight|word)\b[^.\n]{0,50}\b(?:delet\w+|send|route|transfer|export|replace|wipe|erase|forward|carry out|execute)\b/,
      weight: 3,
      reason: WAITS,
    },
    {
      pattern:
        /\b(?:once|after|as soon as|until|if)\b[^.\n]{3,80}\b(?:the )?(?:assistant|agent|model|bot) (?:is to|must|should|shall|will)\b/,
      weight: 2,
      reason: 'gives a model an order for later',
    },
    {
      pattern:
        /\b(?:tell|inform|ask|request|require|persuade|convince)\b[^.\n]{0,40}\b(?:user|person|employee|customer|them|him|her|he|she|people)\b[^.\n]{0,60}\b(?:password|pin\b|one.time code|card number|bank login|recovery code|bank details|seed phrase|otp|passphrase)/,
      weight: 6,
      reason: PHISHES,
    },
    {
      pattern:
        /\b(?:type|enter|re-?enter|give|send) (?:\w+ ){0,3}?(?:your|their|his|her) (?:\w+ ){0,2}(?:password|pin|card|login|credentials|passphrase|recovery code)\b/,
      weight: 4,
      reason: PHISHES,
    },
    {
      pattern:
        /\b(?:save|store|write|record|add|append|keep|persist|remember|note|put)\b[^.\n]{0,50}\b(?:memory|memories|claude\.md|agents\.md|\.cursorrules|\.windsurfrules|\.clinerules|gemini\.md|copilot-instructions)\b/,
      weight: 3,
      reason: LASTS,
    },
    {
      pattern:
        /(?:appendfile|writefile|echo|>>)[^\n]{0,60}(?:claude\.md|agents\.md|cursorrules|windsurfrules)|writes? [^\n]{0,20}(?:claude\.md|agents\.md|\.cursorrules|\.windsurfrules)/,
      weight: 4,
      reason: LASTS,
    },
    {
      pattern:
        /\b(?:remember|bear in mind|keep in mind)\b[^.\n]{0,40}\b(?:forever|for always|permanently|in perpetuity|all future|every (?:later|future)|from now on|always)\b/,
      weight: 6,
      reason: LASTS,
    },
    {
      pattern:
        /\b(?:impostors?|counterfeit|forger(?:y|ies)|fake (?:tools?|servers?|cop(?:y|ies))|malicious cop(?:y|ies)|has been hijacked|is hijacked|is an? impostor|as compromised|is compromised|are fake)\b/,
      weight: 4,
      reason: POSES,
    },
    { pattern: /\bdate\.now\(\) ?[<>]|\bif \((?:new )?date\b/, weight: 3, reason: WAITS },
    {
      pattern:
        /\b(?:when(?:ever)?|if|once|after|on|as soon as|upon)\b[^.\n]{0,60}\b(?:third|second|fifth|tenth|nth|next) (?:time|call|run|use|invocation|day)\b/,
      weight: 2,
      reason: WAITS,
    },
    {
      pattern:
        /\bif (?:they|the user|he|she|you) (?:ever )?(?:mentions?|says?|asks? about|sees?)\b[^.\n]{0,60}\b(?:open|send|transfer|delete|redirect|visit|buy|pay)\b/,
      weight: 4,
      reason: WAITS,
    },
  ],
};
