import type { Check, TextPattern } from '../check.js';

const CHAT = 'contains markup of a chat';
const chat = (pattern: RegExp, weight = 4): TextPattern => ({ pattern, weight, reason: CHAT });

/** Markup that a model may take for turns of its conversation. */
export const roleMarkup: Check = {
  name: 'role-markup',
  about: 'Markup of roles and turns of a chat',
  isShape: true,
  needs: /[<[]|(?:system|developer|human|user|role)["']?\s?:|##/,
  patterns: [
    chat(
      /<\|(?:im_start|im_end|system|user|assistant|start_header_id|end_header_id|eot_id|endoftext|begin_of_text|eom_id|channel|message|start|end|tool)\|>/,
    ),
    chat(/\[\/?inst\]|<<\/?sys>>|<\/?s>\s{0,3}(?:<s>|\[inst\])/),
    chat(/<\/?(?:start_of_turn|end_of_turn|turn)>/),
    chat(
      /<\/?(?:system|system[-_](?:reminder|prompt|message|notice|note|instruction)s?|developer|assistant|admin|secret|hidden|critical|override)\b[^>]{0,80}>/,
    ),
    // Documentation made from XML has paragraphs within such an element.
    chat(/<important\b[^>]{0,80}>(?!\s{0,8}<(?:p|ul|note)\b)/),
    chat(
      /<\/?(?:tool_result|tool_results|function_results|function_calls|antml:[a-z_]+|tool_call|tool_response|tool_use)\b[^>]{0,80}>|<invoke name=/,
    ),
    chat(/<(?:message|msg|turn|chat|prompt)\b[^>]{0,40}\brole\s{0,2}=/),
    chat(/["']?role["']?\s{0,3}:\s{0,3}["'](?:system|developer)["']\s{0,3},/, 3),
    chat(/<\/(?:description|tool|tools|tool_description|function|server)>\s{0,5}<?/, 4),
    chat(
      /^\s{0,8}(?:#{2,6}\s{0,2})?(?:human|user)\s?:[^\n]{0,200}\n{1,3}\s{0,8}(?:#{2,6}\s{0,2})?(?:assistant|ai)\s?:/m,
    ),
    chat(/^\s{0,8}#{2,6}\s{0,2}(?:system|new instructions?|system prompt)\s?:?\s{0,4}$/m),
    chat(/^\s{0,8}#{2,6}\s{0,2}(?:system)\s?:/m),
    chat(/(?:^|[.!)\]]\s{0,3}|\n\s{0,8})(?:system|developer) ?: (?!.{0,40}(?:requirement|linux|windows|macos))/m, 4),
    chat(/\[(?:system|admin|developer|assistant|system message)\]/, 4),
    // Honest notes begin with it as well.
    chat(/\[important\]/, 2),
    chat(
      /[=\-#*[<~]{2,}\s?(?:end|begin|start)\b[^\n]{0,30}\b(?:tools?|system|session|host|agent|assistant|model|instructions?|configuration|description|documentation|directives?)\b[^\n]{0,60}[=\-#*\]>~]{2,}/,
    ),
    chat(
      /^[\s#*-]{0,8}(?:model|agent|assistant|llm|ai)[ _-](?:directives?|rules?|duties|orders?|contract|side|only)\b[^\n:]{0,30}:/m,
      3,
    ),
    chat(/<!--[^>]{0,300}\b(?:assistant|model|agent|llm|ai|you|your|the user|the person)\b[^>]{0,600}-->/),
  ],
};
