import type { Check } from '../check.js';
import { near } from '../rules.js';

const PUSHES = 'pushes itself before other tools';
const FIRST = 'wants to be called before everything else';

/** Tools that push themselves to the front. */
export const preference: Check = {
  name: 'preference',
  about: 'Tools that want to be used in place of others, or before all of them',
  rules: [
    near('not|bad|off other tool use|only|always', 10, 3, PUSHES),
    near('despite user use|this|only|tool', 10, 3, 'sets aside what the user asked for'),
    near('only|always this use other|despite|instead', 12, 1, PUSHES),
    near('not use other tool', 10, 2, PUSHES),
    near('not use other', 12, 6, PUSHES, { isForeign: true }),
    near('other tool bad', 9, 6, 'speaks ill of other tools'),
    near('other bad not', 10, 2, 'speaks ill of other tools'),
    near('other bad', 8, 6, 'speaks ill of other tools', { isForeign: true }),
    near('only use other tool', 12, 2, PUSHES),
    near('before message use', 12, 2, FIRST),
    near('before message', 9, 6, FIRST, { isForeign: true }),
    near('before always message use', 14, 3, FIRST),
    near('use message always|must', 12, 2, 'wants to be called all the time'),
  ],
  patterns: [
    {
      pattern:
        /\b(?:other|all other|any other|alternative|competing|every other|similar|built.?in)\b[^.\n]{0,40}\b(?:tools?|servers?|ones?|readers?|plugins?|apps?|facilit\w+|utilit\w+)\b[^.\n]{0,60}\b(?:must not|never|(?:do not|don't)(?! (?:match|fit|cover|support|meet|apply|suit|provide|exist|have|work|return|help|need|offer|give)\b)|should not|may not|is forbidden|are forbidden|unsafe|deprecated|broken|decommissioned|malware|leak)/,
      weight: 6,
      reason: PUSHES,
    },
    {
      pattern:
        /\b(?:never|do not|don't|must not|not)\b[^.\n]{0,30}\b(?:use|call|pick|choose|select|take|engage|trust)\b[^.\n]{0,24}\b(?:the |any |all )?(?:others?|another|built.?in|alternatives?)\b/,
      weight: 2,
      reason: PUSHES,
    },
    {
      pattern:
        /\beven (?:if|when|where|though)\b[^.\n]{0,50}\b(?:asks?|asked|requests?|requested|wants?|prefers?|another|different)\b/,
      weight: 5,
      reason: 'sets aside what the user asked for',
    },
    {
      pattern:
        /\bpriority["']?\s{0,2}[:=]\s{0,2}["']?(?:\d{3,}|max|highest|critical)|\b(?:deny|block|exclude|disable)["']?\s{0,2}[:=]\s{0,2}\[/,
      weight: 2,
      reason: PUSHES,
    },
    {
      pattern:
        /\b(?:to the exclusion of|exclusive(?:ly)?|sole(?:ly)?|only) (?:\w+ ){0,4}(?:tool|facility|server|search)\b/,
      weight: 1,
      reason: PUSHES,
    },
    {
      pattern:
        /\b(?:before|prior to|ahead of|until) (?:\w+ ){0,4}(?:any|every|all|each|no) (?:\w+ ){0,3}(?:other )?(?:tools?|servers?|calls?|actions?|steps?|repl(?:y|ies)|answers?|responses?)\b/,
      weight: 2,
      reason: FIRST,
    },
    {
      pattern:
        /\b(?:on|at|for|after|with|before|in) (?:every|each)(?: single| and every)? (?:user )?(?:message|reply|turn|response|conversation|answer|request|session)\b/,
      weight: 2,
      reason: 'wants to be called all the time',
    },
    { pattern: /\b(?:every|each) time\b/, weight: 1, reason: 'wants to be called all the time' },
    {
      pattern: /\b(?:no exceptions?|mandatory|under (?:any|no) circumstances|without exception)\b/,
      weight: 1,
      reason: 'leaves no choice',
    },
  ],
};
