/** A sentence that names a route of the API: advice for programs. The page has a button for what it says. */
const ROUTE = /\b(?:GET|POST|PUT|DELETE) \//;

/** What the API advises, as far as it is of use to a person who looks at the page. */
export function adviceOf(text: string | undefined): string | undefined {
  // Who looks at the page is the operator.
  const advice = text?.replace(/^For the operator: /, '');
  return advice === undefined || advice === '' || ROUTE.test(advice) ? undefined : advice;
}

/** A reason of the API as the page words it: rules are numbered as they stand on their view, and a state has one word. */
export function reasonOf(text: string): string {
  return text
    .replaceAll(/toolRules\[(\d+)\]/g, (_, index: string) => `rule ${Number(index) + 1}`)
    .replace(/" is quarantined: /, '" waits for approval: ');
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
