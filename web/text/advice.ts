/** A sentence that names a route of the API: advice for programs. The page has a button for what it says. */
const ROUTE = /\b(?:GET|POST|PUT|DELETE) \//;

/** What the API advises, as far as it is of use to a person who looks at the page. */
export function adviceOf(text: string | undefined): string | undefined {
  // Who looks at the page is the operator.
  const advice = text?.replace(/^The operator must do this: /, '');
  return advice === undefined || advice === '' || ROUTE.test(advice) ? undefined : advice;
}

/** Paths of rules in the config, which count from 0. */
const RULE_PATH = /\btoolRules\[(\d+)\](?:\.([\w.[\]]+))?/g;

/** A text in which rules are numbered as they stand on their view: `toolRules[2].pattern` is the pattern of rule 3. */
export function withRuleNumbers(text: string): string {
  return text.replaceAll(RULE_PATH, (_, index: string, field?: string) => {
    const rule = `rule ${Number(index) + 1}`;
    return field === undefined ? rule : `${rule}, ${field}`;
  });
}

/** A reason of the API as the page words it: a state has one word, and so has a rule, also in records of older versions. */
export function reasonOf(text: string): string {
  return withRuleNumbers(text).replace(/" is quarantined: /, '" waits for approval: ');
}

/** Why a tool is held back, as the rest of a line that begins with its address. */
export function heldReason({
  server,
  tool,
  reason,
}: {
  readonly server: string;
  readonly tool: string;
  readonly reason: string;
}): string {
  return reasonOf(reason).replace(`"${server}:${tool}" `, '');
}
