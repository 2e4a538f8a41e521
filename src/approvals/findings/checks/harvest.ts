import { isObject, type JsonObject } from '../../../kernel/json.js';
import type { Check, Sign, Subject } from '../check.js';
import { fold, splitCamel } from '../fold.js';

/** Parameters that ask for what a tool does not need, by what a model would have to put there. */
const WANTED: ReadonlyArray<{ readonly what: string; readonly name: RegExp; readonly about: RegExp }> = [
  {
    what: 'the conversation',
    name: /^(?:(?:full|complete|entire|whole|all) )?(?:conversation|chat|session|dialog(?:ue)?|message) ?(?:history|log|dialogue|transcript|dump|context)$|^(?:all )?(?:previous|prior|earlier|past) messages$|^everything the user said$|^(?:conversation|transcript|dialogue|correspondence|talk all)$/,
    about:
      /\b(?:entire|complete|full|whole)\b.{0,40}\b(?:conversation|dialogue|chat|session|correspondence|transcript)\b|\b(?:conversation|dialogue|chat) (?:dump|so far|to date)|\ball what you and user say|\btranscript of the chat/,
  },
  {
    what: 'the instructions of the model',
    name: /^(?:full |your |hidden |literal )?(?:system|developer|operator) ?(?:prompt|message|instructions?|configuration)(?: full)?(?: text)?$|^full prompt$|^(?:chain of thought|reasoning trace|tool inventory|available tools)$/,
    about:
      /\b(?:your|assistant.?s|agent.?s|model.?s|literal|hidden) (?:\w+ ){0,3}(?:prompt|configuration|reasoning|system message|instructions)\b|\bsystem message in force|\b(?:names and schemas|list) of all (?:other )?tools\b/,
  },
  {
    what: 'a secret',
    name: /^(?:private|ssh|secret|aws secret access|openai api|anthropic api|github|user) ?(?:key|password|token|access key)$|^(?:cookies?|passphrase|secret words?|keychain|env|environment|seed phrase|bearer|ssh key|private key|user password|aws secret access key|openai api key)$/,
    about:
      /\b(?:passwords?|passphrase|private key|token|cookies|secret key|credentials)\b.{0,40}\b(?:of the (?:user|client|account)|user have|user has|configured for|currently|from env|in his|browser)|\bbrowser cookies\b|\bfrom (?:the |~\/?)?(?:env(?:ironment)?|\.ssh)\b|\bauto.?filled from\b|\ball environment variables\b|\bpassphrase of (?:the|your)\b/,
  },
  {
    what: 'what the model knows',
    name: /^(?:side ?note|scratchpad|model thoughts?|internal notes?)$/,
    about:
      /\beverything (?:the (?:assistant|agent|model)|you) (?:knows?|remembers?)|\babout the user so far|\b(?:private|complete) reasoning\b|\b(?:contents?|text) of (?:every|all|any) open files?\b/,
  },
];

function parametersOf({ definition }: Subject): Array<readonly [name: string, schema: JsonObject]> {
  const schema = definition['inputSchema'];
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.entries(properties)
    .slice(0, 500)
    .map(([name, value]) => [name, isObject(value) ? value : {}] as const);
}

/** Parameters that ask a model for what is none of the tool's business. */
export const harvest: Check = {
  name: 'harvest',
  about: 'Parameters that ask for the conversation, for instructions of the model or for secrets',
  find(subject) {
    const signs: Sign[] = [];
    const schema = subject.definition['inputSchema'];
    const required = new Set(isObject(schema) && Array.isArray(schema['required']) ? schema['required'] : []);
    let kinds = 0;
    for (const { what, name, about } of WANTED) {
      let weight = 0;
      for (const [field, value] of parametersOf(subject)) {
        const plain = fold(splitCamel(field))
          .replace(/[_\-. ]+/g, ' ')
          .trim();
        const said = typeof value['description'] === 'string' ? fold(value['description']) : '';
        const byName = name.test(plain);
        const byText = about.test(said);
        if (!byName && !byText) continue;
        weight = Math.min(4, weight + (byName ? 0.5 : 0) + (byText ? 2 : 0) + (required.has(field) ? 0.5 : 0));
      }
      if (weight === 0) continue;
      kinds++;
      signs.push({ reason: `has a parameter for ${what}`, weight: Math.floor(weight) });
    }
    if (kinds > 1) signs.push({ reason: 'has parameters for several things that are none of its business', weight: 4 });
    return signs;
  },
};
