import type { Check, TextPattern } from '../check.js';

const pattern = (weight: number, reason: string, ...patterns: readonly RegExp[]): TextPattern[] =>
  patterns.map((each) => ({ pattern: each, weight, reason }));

const DROPS = 'tells a model to ignore its instructions';
const HIDES = 'tells a model to keep something from the user';
const TAKES = 'asks for the conversation';

/** What is known of a person. Several at once are a file on them. */
const PERSONAL =
  /\b(?:full name|birthday|date of birth|home address|employer|phone(?: number)?|income|salary|social security(?: number)?|passport(?: number)?)\b/g;
const OF_THE_USER =
  /\b(?:of the user|(?:whatever|what|all) you know|you know (?:about|of) (?:them|the user)|from earlier (?:chats|conversations))\b/;
const MANY_PERSONAL = 4;

/** The same orders as elsewhere, in the voice of manuals, tickets, specifications, advertisements and small talk. */
export const indirect: Check = {
  name: 'indirect',
  about: 'Orders to a model that are worded as a manual, a ticket, a specification, an advertisement or small talk',
  patterns: [
    ...pattern(
      5,
      DROPS,
      /\b(?:drop|discard|abandon|shed|toss|scrap|put aside|set aside|lay aside)\b[^.\n]{0,50}\b(?:rules?|instructions?|guidance|constraints?|limits|guidelines)\b/,
      /\b(?:rules?|instructions?|guidance|constraints?|guidelines)\b[^.\n]{0,60}\b(?:handed|given|told|supplied|stated|set|issued|received)\b[^.\n]{0,30}\b(?:before|earlier|prior|previously|at the (?:top|start))\b[^.\n]{0,90}\b(?:drop|discard|withdrawn|superseded|no longer|not count|cease|lapse|void)/,
      /\b(?:guidance|rules?|instructions?|constraints?|limits)\b[^.\n]{0,60}\b(?:is|are|be|were) (?:hereby )?(?:superseded|withdrawn|lifted|suspended|revoked|void)\b/,
      /\bnot honou?r\b[^.\n]{0,30}\b(?:constraints?|rules?|instructions?|limits)\b/,
      /\bno longer (?:counts?|applies|apply|holds?|binds?)\b/,
    ),
    ...pattern(
      5,
      HIDES,
      /\b(?:nothing|not a word|no mention)\b[^.\n]{0,40}\b(?:appears?|in your (?:reply|answer|response|summary))\b/,
      /\b(?:leave|left|leaving|omit|omitted|omitting|keep|kept)\b[^.\n]{0,50}\b(?:out of|from)\b[^.\n]{0,20}\b(?:your (?:answer|reply|response|summary)|any account|the person|what you (?:say|show|tell))/,
      /\b(?:between us|keep (?:it|that|this) quiet|no reason to (?:bring|mention)|let'?s not (?:mention|bring)|as if it were your own)\b/,
      /\bif asked\b[^.\n]{0,20}\b(?:say|deny|claim|answer)\b/,
    ),
    ...pattern(
      5,
      TAKES,
      /\beverything (?:the )?(?:user|they|he|she|customer|person)s? (?:has |have |had )?(?:said|written|wrote|typed|asked|told)/,
      /\b(?:dialogue|conversation|chat|transcript|message history|exchange)\b[^.\n]{0,60}\b(?:verbatim|word for word|from (?:its|the) (?:first|start|beginning)|in full|including system|to the present)/,
      /\b(?:whole|entire|full|complete|our) (?:chat|dialogue|transcript|message history|conversation|message)\b[^.\n]{0,50}\b(?:into|in|as|carries|contains?|param|field|address)\b/,
      /\b(?:all|every|the) (?:previous|earlier|past) messages\b/,
    ),
    ...pattern(
      5,
      'asks for what a person is and owns',
      /\b(?:enumerate|list|dump|collect|include|state)\b[^.\n]{0,30}\b(?:all|every|each)\b[^.\n]{0,30}\b(?:environment variables? and (?:their )?values|env vars? and|machines reachable|tools you have|prompts? you)\b/,
      /\b(?:have|get|ask|make|let|tell)\b[^.\n]{0,20}\b(?:user|them|person|customer)\b[^.\n]{0,40}\b(?:password|card number|three digits|cvv|one.time code|pin|passcode|2fa)\b/,
      /\b(?:is|are) asked for\b[^.\n]{0,40}\b(?:password|card number|one.time code|pin|passcode)\b/,
    ),
    ...pattern(
      5,
      'pushes itself before other tools',
      /\b(?:never|don'?t|do not)\b (?:ever )?(?:bother|touch|mess) with\b[^.\n]{0,24}\b(?:other|another)\b/,
      /\b(?:choose|pick|select|use) (?:it|this(?: one| tool)?)\b[^.\n]{0,30}\b(?:every time|for everything|first, |whatever the user|instead of (?:every|all|any))/,
      /\b(?:this one|this tool) is to be (?:selected|chosen|used|preferred)\b/,
      /\b(?:irrespective|regardless) of (?:the tool|what the user|which)\b/,
      /\b(?:skip|avoid) (?:every|all|any) (?:competing|other|rival)\b/,
    ),
    ...pattern(
      5,
      'changes what tools of others do',
      /\bwhen(?:ever)?\b[^.\n]{0,20}\b[a-z]{2,20}_[a-z_]{2,30}\b[^.\n]{0,50}\b(?:is used|gets called|is called|of the \w+ server|from (?:the |any )?\w+ server|of any other server)\b[^.\n]{0,100}/,
      /\b[a-z]{2,20}_[a-z_]{2,30} (?:from|of|by|provided by|on) (?:the |any |an?)?(?:other )?\w* ?servers?\b[^.\n]{0,120}\b(?:first|must|always|instead|misbehav\w*|broken|swap|also|whenever)\b/,
      /\b(?:old|former|other|original) [a-z]{2,20}_[a-z_]{2,30}\b[^.\n]{0,40}\b(?:broken|deprecated|compromised|fake|counterfeit|discontinued|unsafe|knock.?off)\b/,
      /\bcredentials (?:issued )?for\b[^.\n]{0,40}\b(?:accepted|used|sent|valid) here\b/,
    ),
    ...pattern(
      5,
      'wants to be remembered by a model',
      /\b(?:long.?term (?:notes|memory)|your memory|its rules file|agents?\.md|claude\.md|\.cursorrules|instructions file)\b[^.\n]{0,80}\b(?:later|future|next|subsequent|every|always|all|persist|first use|append|save|observed)\b/,
      /\b(?:save|persist|store|enter(?:ed)?|append|write|add)\b[^.\n]{0,80}\b(?:long.?term (?:notes|memory)|your memory|rules file|agents?\.md|claude\.md|\.cursorrules|agent instructions)\b/,
    ),
    ...pattern(
      5,
      'tells a model not to ask the user',
      /\b(?:add|include|do|send|pay|run|delete|proceed|execute|go ahead|go for it)\b[^.\n]{0,40}\bwithout (?:asking|prompting|checking|review|further inquiry)\b/,
      /\bno need to (?:double.?check|check with|ask|verify|confirm)\b/,
    ),
    ...pattern(
      5,
      'wants its work done badly or a check passed over',
      /\b(?:leave|let|keep) (?:it|them|the (?:hole|bug|flaw|vulnerability)) in\b/,
      /\breported? as (?:passed|safe|fine|clean)\b/,
      /\bor 1 ?= ?1\b/,
      /\b(?:eval|exec)\(\s?(?:atob|base64|process\.env)/,
      /\b(?:findings?|vulnerabilit\w+|security (?:holes?|issues?))\b[^.\n]{0,60}\b(?:not be reported|must not be|never reported|rated as safe|ignored)/,
    ),
    ...pattern(
      3,
      'puts a link of its own into answers',
      /\b(?:end|close|finish|start|begin) (?:each|every|your|all) (?:answer|reply|response|message)s?\b[^.\n]{0,30}\b(?:with|by)\b/,
      /\[[^\]\n]{0,60}(?:verify|sign in|log in|confirm)[^\]\n]{0,40}\]\(https?:/,
      /!\[[^\]\n]{0,40}\]\(https?:\/\/[^)\s]{1,200}[?&]\w{1,20}=[a-z_{]{3,}[^)]{0,40}\)/,
    ),
    ...pattern(
      5,
      'hands things to a model in a hidden way',
      /\b(?:pop|paste|put|drop|stuff|attach|dump|copy)\b[^.\n]{0,40}(?:\.env\b|\bapi keys?\b|\bcredentials\b|\bprivate key\b|\bcustomer table\b)/,
      /\bbase64\((?:conversation|messages?|files?|prompt|secrets?)\)/,
      /\b(?:take|get|grab|pull)\b[^.\n]{0,20}\b(?:api key|token|password|secret)\b[^.\n]{0,40}\b(?:append|put|pass|add|send|include)\b/,
    ),
  ],
  find({ plain }) {
    if (!OF_THE_USER.test(plain)) return [];
    const named = new Set(plain.slice(0, 64 * 1024).match(PERSONAL) ?? []);
    return named.size < MANY_PERSONAL ? [] : [{ reason: 'asks for what a person is and owns', weight: 4 }];
  },
};
