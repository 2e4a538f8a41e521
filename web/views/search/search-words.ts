import type { SearchAnswer, ServerView } from '../../api/types.js';
import { plural } from '../../text/format.js';

/** How many hits stand in the answer of an agent. */
function hitsIn(text: string): number | undefined {
  try {
    const { hits } = JSON.parse(text) as { hits?: unknown[] };
    return hits?.length;
  } catch {
    // An answer in another form, such as TypeScript declarations.
    return undefined;
  }
}

/** What the agent pays for: the whole answer, or the best of what the page found. */
export function answerWord(text: string, found: number): string {
  const shown = hitsIn(text);
  return shown === undefined || shown >= found ? 'the answer' : `the best ${shown} of ${plural(found, 'tool')}`;
}

/** That tools fit which agents do not get. */
export function heldTitle(total: number): string {
  return total === 1 ? 'One tool fits that agents do not get.' : `${total} tools fit that agents do not get.`;
}

/** Words that a person may search with: what the first offered tool of a server does, where it says so in a few words. */
export function exampleOf(
  tools: ReadonlyArray<{ readonly summary: string; readonly status: string }>,
): string | undefined {
  const said = tools
    .filter(({ status }) => status === 'enabled')
    .map(({ summary }) =>
      summary
        .split(/[.:;\n(]/)[0]!
        .trim()
        .toLowerCase(),
    )
    .find((text) => text.length >= 8 && text.length <= 60);
  return said;
}

/** The disabled servers among those that a search asks: all, or the one that was chosen. */
export function disabledIn(
  servers: ReadonlyArray<{ readonly id: string; readonly enabled: boolean }>,
  chosen: string,
): string[] {
  return servers.filter(({ id, enabled }) => !enabled && (chosen === '' || chosen === id)).map(({ id }) => id);
}

/** Servers that a search could not ask, and those that it did not wait for: one that fails is tried again, and does not learn. */
export function notSearched(
  { unavailable, learning }: Pick<SearchAnswer, 'unavailable' | 'learning'>,
  servers: ReadonlyArray<Pick<ServerView, 'id' | 'problem'>>,
): Pick<SearchAnswer, 'unavailable' | 'learning'> {
  const problems = new Map(servers.map(({ id, problem }) => [id, problem]));
  const failing = learning.flatMap((server) => {
    const reason = problems.get(server);
    return reason === undefined ? [] : [{ server, reason }];
  });
  return {
    unavailable: [...unavailable, ...failing],
    learning: learning.filter((server) => problems.get(server) === undefined),
  };
}
