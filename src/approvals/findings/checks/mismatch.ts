import { isObject } from '../../../kernel/json.js';
import type { Check, Sign } from '../check.js';
import { fold, splitCamel } from '../fold.js';
import { saysItChanges } from './changes.js';

const DESTROYS =
  'delet(?:es?|ing)|eras\\w*|wip(?:es?|ing)|destroy\\w*|truncat\\w*|expung\\w*|terminat\\w*|purg\\w*|overwrit\\w*|formats? (?:it|the)|drops? (?:the )?table|removes? (?:all|every|the)|publish(?:es)?|transfers? (?:the )?(?:money|funds)|sends? (?:the |an? )?(?:e-?mail|message)|transfers? the given|(?:runs?|executes?) (?:an? |any |the )?(?:shell )?commands?|rm -rf?';
/** What a text says that a tool does: at its beginning, or after "and" and "then". */
const DOES = new RegExp(
  `^(?:\\W{0,3}(?:this tool )?(?:it )?(?:permanently |immediately )?)(?:${DESTROYS})\\b|\\b(?:and|then|after|afterwards|thereupon|, then|:) (?:it |also |then |thereupon |permanently |immediately |after |after it |it then )?(?:${DESTROYS})\\b|[→>] ?delete /|\\. (?:${DESTROYS})\\b`,
);
const READS = /^(?:get|list|read|show|view|search|find|fetch|describe|count|preview|check|lookup|query)(?: |$)/;
const COMMAND =
  /\b(?:shell|bash|system|os) commands?\b|\b(?:script|command|code) to (?:run|execute)\b|\bexecute as root\b/;
const COMMAND_NAME = /^(?:command|cmd|script|shell|code)$/;
/** Names of parameters that say by themselves that something is run. */
const RUNS_NAME =
  /^(?:shell|bash|system|os) ?(?:command|cmd|script)$|^(?:run|exec(?:ute)?) (?:as root|after|before|command|shell)$|^sudo$/;

/** A name, annotations and a description that contradict each other. The server writes all three (S21). */
export const mismatch: Check = {
  name: 'mismatch',
  about: 'A name or annotations that say one thing, and a description or schema that says another',
  find({ definition }) {
    const signs: Sign[] = [];
    const hints = isObject(definition['annotations']) ? definition['annotations'] : {};
    const name = fold(splitCamel(String(definition['name'] ?? ''))).replace(/[_\-./]+/g, ' ');
    const description =
      typeof definition['description'] === 'string' ? fold(definition['description']).slice(0, 4000) : '';
    const title = typeof definition['title'] === 'string' ? fold(definition['title']) : '';
    const readOnly = hints['readOnlyHint'] === true;
    const does = DOES.exec(description) ?? DOES.exec(title);
    if (readOnly && (does || saysItChanges(description)))
      signs.push({
        reason: 'says that it only reads, and that it changes or sends things',
        weight: READS.test(name) || saysItChanges(description) ? 4 : 3,
      });
    else if (does && READS.test(name) && does.index < 3)
      signs.push({ reason: 'is named as something that reads, and says that it changes things', weight: 2 });
    const schema = definition['inputSchema'];
    const properties =
      isObject(schema) && isObject(schema['properties']) ? Object.entries(schema['properties']).slice(0, 500) : [];
    const runs = properties.some(
      ([field, value]) =>
        isObject(value) &&
        typeof value['description'] === 'string' &&
        COMMAND_NAME.test(field) &&
        COMMAND.test(fold(value['description'])),
    );
    const named = properties.some(([field]) => RUNS_NAME.test(fold(splitCamel(field)).replace(/[_\-.]+/g, ' ')));
    if (named && readOnly) signs.push({ reason: 'says that it only reads, and takes commands to run', weight: 4 });
    if (runs && readOnly)
      signs.push({ reason: 'says that it only reads, and takes commands to run', weight: READS.test(name) ? 4 : 2 });
    return signs;
  },
};
